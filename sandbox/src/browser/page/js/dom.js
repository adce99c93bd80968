// What an element is: its id, role, name, states and place. Runs in a world of its own
// in every frame, which the page can neither see nor change; the other scripts of this
// folder build upon it. Nothing here changes the page.
(() => {
  const ROLES = new Set([
    'button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem',
    'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'scrollbar', 'searchbox',
    'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
  ]);
  const INPUT_ROLES = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
    radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file',
    color: 'color', date: 'date', time: 'time', month: 'month', week: 'week',
    'datetime-local': 'datetime',
  };
  // Elements are held fast while they are on the page: what stands for one in this world
  // may be made anew once nothing holds it, and is another object then.
  const HEARD = new Set(); // elements that answer to clicks, as the browser tells
  const FRAMES = new Map(); // frame element -> its number
  const IDS = new Map();
  const BY_ID = new Map();
  const NAME = 100;

  const squeeze = (text) => text.replace(/[\s\u200b\ufeff]+/g, ' ').trim();
  const cut = (text, most) => {
    const letters = [...text];
    return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : text;
  };
  /** A text of the page without control characters, and those that turn its direction. */
  const clean = (text) => text.replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '');
  /** A text of the page between quotes that it cannot end. */
  const quoted = (text) => `"${clean(squeeze(text)).replace(/[\\"]/g, '\\$&')}"`;
  const tag = (el) => el.localName || '';
  const kind = (el) => (tag(el) === 'input' ? el.type : '');
  const view = (el) => el.ownerDocument.defaultView;
  const style = (el) => view(el).getComputedStyle(el);

  /** Parent in what is rendered: through slots and out of shadow trees. */
  const above = (el) => {
    if (el.assignedSlot) return el.assignedSlot;
    const parent = el.parentNode;
    return parent && parent.nodeType === 11 ? parent.host || null : parent;
  };

  /** Children in what is rendered. */
  const below = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (tag(node) === 'slot') {
      const given = node.assignedNodes();
      if (given.length) return given;
    }
    return node.childNodes;
  };

  const inside = (el, ancestor) => {
    for (let at = el; at; at = above(at)) if (at === ancestor) return true;
    return false;
  };

  const rendered = (el) => {
    if (!el.isConnected) return false;
    if (el.checkVisibility) {
      return el.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    }
    return style(el).visibility === 'visible' && el.getClientRects().length > 0;
  };

  /** The rectangle of an element: of its own box, or of what it holds where it has none. */
  const box = (el) => {
    let rect = el.getBoundingClientRect();
    if ((rect.width <= 1 || rect.height <= 1) && el.firstElementChild) {
      for (const child of below(el)) {
        if (child.nodeType !== 1) continue;
        const inner = child.getBoundingClientRect();
        if (inner.width > 1 && inner.height > 1) return inner;
      }
    }
    return rect;
  };

  const seen = (el) => {
    if (!rendered(el)) return false;
    const rect = box(el);
    if (rect.width <= 1 || rect.height <= 1) return false;
    for (let at = el; at && at.nodeType === 1; at = above(at)) {
      if (parseFloat(style(at).opacity) === 0) return false;
    }
    return true;
  };

  /** What stands for a checkbox, radio or file input that a page hides behind a label. */
  const standIn = (el) => {
    if (!['checkbox', 'radio', 'file'].includes(kind(el)) || seen(el)) return el;
    for (const label of el.labels || []) if (seen(label)) return label;
    return el;
  };

  const visible = (el) => seen(standIn(el));

  const inWindow = (rect) => {
    const w = window.innerWidth, h = window.innerHeight;
    return rect.bottom > 0 && rect.right > 0 && rect.top < h && rect.left < w;
  };

  /** Whether scrolled or clipped ancestors leave something of it in the window. */
  const shown = (el) => {
    const target = standIn(el);
    if (!seen(target)) return false;
    let { left, top, right, bottom } = box(target);
    for (let at = above(target); at && at.nodeType === 1; at = above(at)) {
      if (at === document.documentElement || at === document.body) continue;
      const look = style(at);
      if (look.overflowX === 'visible' && look.overflowY === 'visible') continue;
      const edge = at.getBoundingClientRect();
      left = Math.max(left, edge.left); right = Math.min(right, edge.right);
      top = Math.max(top, edge.top); bottom = Math.min(bottom, edge.bottom);
      if (right - left < 1 || bottom - top < 1) return false;
    }
    return inWindow({ left, top, right, bottom });
  };

  const disabled = (el) =>
    el.matches(':disabled') || !!el.closest('[aria-disabled="true"], [inert]');

  const role = (el) => {
    const given = (el.getAttribute('role') || '').trim().split(/\s+/)[0].toLowerCase();
    if (/^[a-z-]{1,40}$/.test(given) && given !== 'presentation' && given !== 'none') return given;
    switch (tag(el)) {
      case 'a': case 'area': return el.hasAttribute('href') ? 'link' : 'clickable';
      case 'button': return 'button';
      case 'summary': return 'summary';
      case 'select': return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
      case 'textarea': return 'textbox';
      case 'input': return INPUT_ROLES[el.type] || (el.list ? 'combobox' : 'textbox');
      case 'option': return 'option';
      case 'label': return 'label';
      default: return el.isContentEditable ? 'textbox' : 'clickable';
    }
  };

  /** Text of an element as it is rendered, without what is hidden. */
  const text = (el, most = 400) => {
    let out = '';
    const walk = (node) => {
      if (out.length > most) return;
      if (node.nodeType === 3) { out += node.data; return; }
      if (node.nodeType !== 1 && node.nodeType !== 11) return;
      if (node.nodeType === 1) {
        if (['script', 'style', 'noscript', 'template', 'select', 'textarea'].includes(tag(node))) return;
        if (node !== el && (node.getAttribute('aria-hidden') === 'true' || !rendered(node))) {
          if (style(node).display !== 'contents') return;
        }
        if (tag(node) === 'img') { out += ' ' + (node.alt || '') + ' '; return; }
        if (tag(node) === 'title' && node.namespaceURI.endsWith('svg')) { out += ' ' + node.textContent + ' '; return; }
        if (tag(node) === 'br') { out += ' '; return; }
      }
      const block = node.nodeType === 1 && node !== el && !style(node).display.startsWith('inline');
      if (block) out += ' ';
      for (const child of below(node)) walk(child);
      if (block) out += ' ';
    };
    walk(el);
    return squeeze(out);
  };

  const byIds = (el, attribute) => {
    const ids = (el.getAttribute(attribute) || '').trim();
    if (!ids) return '';
    const root = el.getRootNode();
    return squeeze(ids.split(/\s+/).map((id) => {
      const found = root.getElementById ? root.getElementById(id) : null;
      return found ? found.textContent : '';
    }).join(' '));
  };

  const labels = (el) => {
    if (!el.labels) return '';
    return squeeze([...el.labels].map((label) => text(label)).join(' '));
  };

  /** Accessible name, after the order of the W3C's accname-1.2, and cut. */
  const name = (el) => {
    const first = byIds(el, 'aria-labelledby') || squeeze(el.getAttribute('aria-label') || '') || labels(el);
    if (first) return cut(first, NAME);
    const what = tag(el);
    const attribute = (key) => squeeze(el.getAttribute(key) || '');
    let found = '';
    if (what === 'input') {
      const type = el.type;
      if (['button', 'submit', 'reset'].includes(type)) {
        found = squeeze(el.value) || { submit: 'Submit', reset: 'Reset' }[type] || '';
      } else if (type === 'image') found = attribute('alt') || attribute('value');
      found = found || attribute('title') || attribute('placeholder') || attribute('name');
    } else if (what === 'textarea' || what === 'select') {
      found = attribute('title') || attribute('placeholder') || attribute('name');
    } else if (what === 'area' || what === 'img') found = attribute('alt') || attribute('title');
    else if (el.isContentEditable) found = attribute('aria-placeholder') || attribute('title') || attribute('placeholder');
    else {
      found = text(el) || attribute('title');
      if (!found) {
        const inner = el.querySelector('[aria-label], [title], img[alt]');
        if (inner) found = squeeze(inner.getAttribute('aria-label') || inner.getAttribute('title') || inner.getAttribute('alt') || '');
      }
      if (!found && el instanceof SVGElement) found = drawn(el);
      if (!found) found = squeeze(el.getAttribute('data-testid') || el.id || '') || looks(el);
    }
    return cut(found, NAME);
  };

  /** What has no name is known by its classes, `icon trash`, and by its colour. */
  const looks = (el) => {
    if (tag(el) === 'input' || tag(el) === 'textarea' || tag(el) === 'select') return '';
    const classes = typeof el.className === 'string' ? cut(squeeze(el.className), 60) : '';
    const back = style(el).backgroundColor;
    const colour = back && !/^rgba\(.*, 0\)$|^transparent$|^rgb\(255, 255, 255\)$/.test(back) && classes !== '' ? ` ${back}` : '';
    return squeeze(classes + colour);
  };

  /** Something drawn has no text: its shape and colour are what can be told of it. */
  const drawn = (el) => {
    const look = style(el);
    const fill = look.fill && look.fill !== 'none' ? ` filled ${look.fill}` : '';
    return `${tag(el)}${fill}`;
  };

  const states = (el) => {
    const out = [];
    const aria = (key) => el.getAttribute('aria-' + key);
    const what = tag(el), type = kind(el);
    if (disabled(el)) out.push('disabled');
    if (type === 'checkbox' || type === 'radio') {
      if (el.indeterminate) out.push('mixed');
      else out.push(el.checked ? 'checked' : 'unchecked');
    } else if (aria('checked')) out.push({ true: 'checked', mixed: 'mixed' }[aria('checked')] || 'unchecked');
    if (what === 'summary' && el.parentElement && tag(el.parentElement) === 'details') {
      out.push(el.parentElement.open ? 'expanded' : 'collapsed');
    } else if (aria('expanded')) out.push(aria('expanded') === 'true' ? 'expanded' : 'collapsed');
    if (aria('selected') === 'true') out.push('selected');
    if (aria('pressed') === 'true') out.push('pressed');
    const current = aria('current');
    if (current && current !== 'false') out.push('current');
    if (el.required || aria('required') === 'true') out.push('required');
    if (el.readOnly && what !== 'select' && type !== 'checkbox') out.push('readonly');
    if (type === 'password') out.push('password');
    if (el.multiple) out.push('multiple');
    if (aria('invalid') && aria('invalid') !== 'false') out.push('invalid');
    if (el === deepActive()) out.push('focused');
    return out;
  };

  const deepActive = () => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    return at === document.body ? null : at;
  };

  const value = (el) => {
    const what = tag(el), type = kind(el);
    if (what === 'input') {
      if (['button', 'submit', 'reset', 'image', 'checkbox', 'radio'].includes(type)) return null;
      if (type === 'password') return el.value ? '•'.repeat(Math.min(el.value.length, 12)) : null;
      if (type === 'file') return el.files.length ? [...el.files].map((file) => file.name).join(', ') : null;
      return el.value ? cut(el.value, 400) : null;
    }
    if (what === 'textarea') return el.value ? cut(el.value, 4000) : null;
    if (what === 'select') {
      const chosen = [...el.selectedOptions].map((option) => squeeze(option.label));
      return chosen.length ? cut(chosen.join(', '), 400) : null;
    }
    if (what === 'a' || what === 'area') return address(el);
    if (el.isContentEditable) return cut(text(el), 400) || null;
    return el.getAttribute('aria-valuetext') || el.getAttribute('aria-valuenow');
  };

  const address = (el) => {
    const raw = el.getAttribute('href');
    if (raw === null || raw === '' || raw === '#' || raw.startsWith('javascript:')) return null;
    try {
      const url = new URL(raw, document.baseURI);
      const same = url.origin === location.origin && url.origin !== 'null';
      return cut(same ? url.pathname + url.search + url.hash : url.href, 120);
    } catch { return cut(raw, 120); }
  };

  const OPTIONS = 200;
  const options = (el) => {
    let all = [];
    if (tag(el) === 'select') all = [...el.options];
    else if (tag(el) === 'input' && el.list) all = [...el.list.options];
    const out = all.slice(0, OPTIONS).map((option) => {
      const label = cut(squeeze(option.label || option.value), 80);
      return option.disabled ? `${label} (disabled)` : label;
    });
    if (all.length > OPTIONS) out.push(`… ${all.length - OPTIONS} more`);
    return out;
  };

  /** Whether something can be done with it. */
  const interactive = (el) => {
    const what = tag(el);
    switch (what) {
      case 'a': case 'area': if (el.hasAttribute('href')) return true; break;
      case 'button': case 'select': case 'textarea': case 'summary': return true;
      case 'input': return el.type !== 'hidden';
      case 'html': case 'body': case 'option': case 'iframe': case 'frame': return false;
    }
    const given = (el.getAttribute('role') || '').trim().split(/\s+/)[0].toLowerCase();
    if (ROLES.has(given)) return true;
    if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable)) return true;
    if (el.hasAttribute('onclick') || el.hasAttribute('onmousedown') || HEARD.has(el)) {
      // A label that listens only repeats its control, as does a box its one link.
      return (what !== 'label' || !el.control) && !wraps(el);
    }
    const index = el.getAttribute('tabindex');
    if (index !== null && parseInt(index, 10) >= 0) return true;
    if (what === 'label') return false;
    if (style(el).cursor === 'pointer') {
      const parent = above(el);
      if (!parent || parent.nodeType !== 1 || style(parent).cursor !== 'pointer') return !ownsControl(el);
    }
    return false;
  };

  /** Whether it holds one control, and nothing that can be read beside it. */
  const wraps = (el) => {
    const inner = el.querySelectorAll('a[href], button, input, select, textarea, [role="button"], [role="link"], [role="menuitem"], [role="option"]');
    return inner.length === 1 && squeeze(el.textContent) === squeeze(inner[0].textContent);
  };

  /** A wrapper that shows a pointer only because of the one control in it. */
  const ownsControl = (el) =>
    !!el.querySelector('a[href], button, input, select, textarea, [role="button"], [role="link"]') || !!el.closest('label');

  /** Ids are handed out by the session, so that none is given twice in any frame. */
  const issue = (el, counter) => {
    let id = IDS.get(el);
    if (id === undefined) {
      id = counter.next++;
      IDS.set(el, id);
      BY_ID.set(id, { el, was: '' });
    }
    const entry = BY_ID.get(id);
    entry.was = describe(el);
    entry.el = el;
    return id;
  };

  const describe = (el) => {
    const called = cut(name(el), 60);
    return called ? `${role(el)} ${quoted(called)}` : role(el);
  };

  /** Finds an element by id; where it is gone, says what it was. */
  const find = (id) => {
    const entry = BY_ID.get(id);
    if (!entry) return { gone: true, was: null };
    const el = entry.el;
    if (!el || !el.isConnected) return { gone: true, was: entry.was };
    return { el };
  };

  /** Lets go of elements that left the page; one that comes back gets another id. */
  const prune = () => {
    for (const [el, id] of IDS) if (!el.isConnected) { IDS.delete(el); BY_ID.get(id).el = null; }
  };

  const label = (el) => {
    const id = IDS.get(el);
    return id === undefined ? describe(el) : `[${id}] ${describe(el)}`;
  };

  /** The deepest element at a point of this frame's window, inside open shadow trees. */
  const at = (x, y) => {
    let el = document.elementFromPoint(x, y);
    while (el && el.shadowRoot) {
      const inner = el.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === el) break;
      el = inner;
    }
    return el;
  };

  globalThis.wildgym = {
    HEARD, FRAMES, IDS, squeeze, cut, clean, quoted, tag, kind, style, above, below, inside, rendered, box,
    standIn, visible, shown, seen, inWindow, disabled, role, text, name, states, value, options,
    interactive, issue, prune, describe, find, label, at, deepActive,
    /** Every entry of the session: the name of a function and its arguments, as JSON. */
    calls: {},
  };
})();
// Whether the page is about to do something by a timer: `timers.js` calls the event off.
globalThis.wildgym.calls.timers = () => !globalThis.dispatchEvent(new Event('wildgym-timers', { cancelable: true }));
globalThis.wildgym.calls.size = () => [innerWidth, innerHeight];
globalThis.wildgym.calls.elements = () => document.getElementsByTagName('*').length;
