// What a window shows, as markdown with marks of what can be acted on, and the list of
// those elements: one walk over what is rendered, shadow trees included. Text outside of
// the window is left out; elements outside of it are listed.
(() => {
  const w = globalThis.wildgym;
  const { squeeze, cut, clean, quoted, tag, kind, below, HEARD, FRAMES } = w;
  const ELEMENTS = 400; // as many outside of the window are listed
  const SHOWN = 800; // and as many in it
  const TEXT = 24000; // characters of one frame
  const NODES = 400000; // nodes visited at most
  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'meta', 'link', 'datalist', 'title', 'object', 'embed']);
  const NESTED = 'a[href], button, input, select, textarea, summary, [contenteditable], [tabindex], [onclick], [role="button"], [role="link"], [role="option"], [role="menuitem"], iframe';

  // What begins a mark, until all text is there: a page's own never holds it.
  const MARK = '\u0002';
  /** The finished text: what looks like the begin of a mark and is none is escaped. */
  const told = (text) => text
    .replace(/(?<![\p{L}\p{N}\p{P}\p{S}\u0002])\[(?=\d+\])|(?<=\()\[(?=\d+\])/gu, '\\[')
    .replaceAll(MARK, '');

  /** Lines under construction: runs of text, with what stands before a line. */
  class Page {
    constructor() { this.lines = []; this.line = ''; this.prefix = ''; this.indent = ''; this.size = 0; this.full = false; }
    /** Adds text of the page, without what cannot be seen. */
    add(text) {
      if (this.full) return;
      this.line += clean(text);
    }
    /** Adds text that is made of such text already. */
    join(text) { if (!this.full) this.line += text; }
    mark(text) { this.join((/[\s(]$/.test(this.line) || !this.line ? '' : ' ') + text + ' '); }
    flush() {
      const text = squeeze(this.line);
      this.line = '';
      if (!text || this.full) return;
      const whole = this.indent + this.prefix + text;
      this.prefix = '';
      this.size += whole.length + 1;
      if (this.size > TEXT) { this.full = true; this.lines.push('… (more text in the window was left out)'); return; }
      this.lines.push(whole);
    }
    gap() { this.flush(); if (this.lines.length && this.lines[this.lines.length - 1] !== '') this.lines.push(''); }
    text() { this.flush(); while (this.lines[this.lines.length - 1] === '') this.lines.pop(); return this.lines.join('\n'); }
  }

  const meets = (a, b) => a.right > b.left + 0.5 && a.left < b.right - 0.5 && a.bottom > b.top + 0.5 && a.top < b.bottom - 0.5;
  const meet = (a, b) => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });

  const range = document.createRange();
  const textShown = (node, clip) => {
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) if (rect.width > 0.5 && meets(rect, clip)) return true;
    return false;
  };

  class Walk {
    constructor(next, clip) {
      this.counter = { next };
      this.clip = clip;
      this.page = new Page();
      this.elements = [];
      this.listed = { in: 0, out: 0 };
      this.more = 0;
      this.nodes = 0;
      this.stopped = false;
    }

    node(node, clip, quiet, list) {
      if (++this.nodes > NODES) { this.stopped = true; return; }
      if (node.nodeType === 3) {
        if (!quiet && /\S/.test(node.data)) { if (textShown(node, clip)) this.page.add(node.data.replace(/\s+/g, ' ')); }
        else if (!quiet) this.page.add(' ');
        return;
      }
      if (node.nodeType !== 1) return;
      if (SKIPPED.has(tag(node))) return;
      const look = w.style(node);
      if (look.display === 'none') {
        // A control hidden behind its label is still worked by it.
        if (tag(node) === 'input') this.element(node, clip, quiet);
        return;
      }
      if (look.overflowX !== 'visible' && look.display !== 'contents' && node !== document.documentElement && node !== document.body) {
        if (look.position !== 'fixed') clip = meet(clip, node.getBoundingClientRect());
      }
      if (look.position === 'fixed') clip = this.clip;
      // What is invisible may hold what is not; what is transparent may not.
      quiet = quiet || look.opacity === '0';
      const silent = quiet || look.visibility !== 'visible';
      const block = !look.display.startsWith('inline') && look.display !== 'contents';
      if (block && !silent) this.page.flush();
      this.open(node, look, clip, quiet, silent, list);
      if (block && !silent) this.page.flush();
    }

    open(node, look, clip, quiet, silent, list) {
      const what = tag(node);
      if (what === 'iframe' || what === 'frame') return this.frame(node, clip, silent);
      if (w.interactive(node)) {
        const done = this.element(node, clip, quiet);
        if (['select', 'textarea', 'input'].includes(what)) return;
        if (done === 'told') return this.children(node, clip, true, list);
      }
      if (what === 'select' || what === 'textarea') return;
      if (silent) return this.children(node, clip, quiet, list, true);
      switch (what) {
        case 'br': this.page.flush(); return;
        case 'hr': this.page.gap(); return;
        case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': {
          this.page.gap();
          this.page.prefix = '#'.repeat(+what[1]) + ' ';
          this.children(node, clip, quiet, list);
          this.page.flush(); this.page.prefix = '';
          return;
        }
        case 'p': case 'pre': case 'blockquote': case 'section': case 'article': case 'form': case 'fieldset': case 'figure': case 'dl':
          this.page.gap(); this.children(node, clip, quiet, list); this.page.gap(); return;
        case 'ul': case 'ol': case 'menu': {
          const from = what === 'ol' ? { at: node.start || 1 } : {};
          if (list) { this.page.indent += '  '; } else this.page.gap();
          this.children(node, clip, quiet, from);
          this.page.flush();
          if (list) this.page.indent = this.page.indent.slice(2); else this.page.gap();
          return;
        }
        case 'li': {
          this.page.prefix = list && list.at !== undefined ? `${list.at++}. ` : '- ';
          this.children(node, clip, quiet, list || {});
          this.page.flush(); this.page.prefix = '';
          return;
        }
        case 'table': if (this.table(node, clip)) return; break;
        case 'img': return this.picture(node, node.alt, 'image', clip);
        case 'canvas': return this.picture(node, node.getAttribute('aria-label') || '', 'drawing', clip);
        case 'video': case 'audio': return this.media(node, clip);
        case 'svg': {
          const called = node.getAttribute('aria-label') || squeeze((node.querySelector(':scope > title') || {}).textContent || '');
          if (called) this.picture(node, called, 'image', clip);
          break;
        }
        case 'progress': case 'meter':
          if (meets(node.getBoundingClientRect(), clip)) this.page.mark(`(${what}: ${node.value} of ${node.max})`);
          return;
      }
      this.children(node, clip, quiet, list);
    }

    children(node, clip, quiet, list, mute = false) {
      if (tag(node) === 'details' && !node.open) {
        for (const child of below(node)) if (tag(child) === 'summary' || tag(child) === 'slot') this.node(child, clip, quiet, list);
        return;
      }
      for (const child of below(node)) {
        if (this.stopped) return;
        this.node(child, clip, quiet || (mute && child.nodeType === 3), list);
      }
    }

    picture(node, alt, word, clip) {
      const called = cut(squeeze(alt || ''), 120);
      const rect = node.getBoundingClientRect();
      if (!meets(rect, clip) || (!called && (rect.width < 40 || rect.height < 40))) return;
      this.page.mark(called ? `(${word}: ${clean(called)})` : `(${word})`);
    }

    media(node, clip) {
      if (!meets(node.getBoundingClientRect(), clip)) return;
      const length = Number.isFinite(node.duration) ? ` of ${Math.round(node.duration)} s` : '';
      const called = node.getAttribute('aria-label') || node.title;
      this.page.mark(`(${tag(node)}${length}${called ? `: ${clean(cut(squeeze(called), 120))}` : ''})`);
    }

    frame(node, clip, silent) {
      const token = FRAMES.get(node);
      const shown = !silent && w.rendered(node) && meets(node.getBoundingClientRect(), clip);
      if (token === undefined) { if (shown) this.page.mark('(a frame that cannot be read)'); return; }
      this.elements.push({ frame: token });
      if (shown) { this.page.gap(); this.page.lines.push(`\u0001${token}\u0001`, ''); }
    }

    /** A table of data becomes a table; one that only lays things out is walked through. */
    table(node, clip) {
      const rows = [...node.rows];
      if (rows.length < 1 || node.querySelector('table') || rows.every((row) => row.cells.length < 2)) return false;
      if (node.querySelector('td h1, td h2, td ul, td ol, td p + p')) return false;
      this.page.gap();
      if (node.caption) { this.node(node.caption, clip, false); this.page.flush(); }
      const outer = this.page;
      let ruled = false;
      for (const row of rows) {
        if (w.style(row).display === 'none') continue;
        const cells = [];
        for (const cell of row.cells) {
          this.page = new Page();
          this.node(cell, clip, false);
          cells.push(this.page.text().replace(/\n+/g, ' ').replace(/\|/g, '\\|'));
        }
        this.page = outer;
        if (cells.every((cell) => cell === '')) continue;
        this.page.join('| ' + cells.map((cell) => cell || ' ').join(' | ') + ' |');
        this.page.flush();
        if (!ruled && [...row.cells].every((cell) => tag(cell) === 'th')) {
          this.page.lines.push('|' + ' --- |'.repeat(cells.length));
        }
        ruled = true;
      }
      this.page.gap();
      return true;
    }

    /** Lists an element, and marks it in the text where the window shows it. */
    element(node, clip, quiet) {
      const target = w.standIn(node);
      if (!w.visible(node)) return 'hidden';
      const shown = meets(w.box(target), clip);
      const where = shown ? 'in' : 'out';
      if (this.listed[where] >= (shown ? SHOWN : ELEMENTS)) { this.more += 1; return 'more'; }
      this.listed[where] += 1;
      const id = w.issue(node, this.counter);
      const called = w.name(node), role = w.role(node), value = w.value(node);
      const entry = { id, role, name: called, shown };
      if (value !== null && value !== undefined) entry.value = value;
      const options = w.options(node), states = w.states(node);
      if (options.length) entry.options = options;
      if (states.length) entry.states = states;
      this.elements.push(entry);
      if (!shown) return 'outside';
      this.page.mark(mark(entry));
      const long = !['link', 'button'].includes(role) && w.text(node, 200).length > 80;
      return node.querySelector(NESTED) || long ? 'holds' : 'told';
    }
  }

  /** The mark of an element in the text. */
  const mark = (entry) => {
    let out = `${MARK}[${entry.id}] ${entry.role}`;
    if (entry.name) out += ` ${quoted(entry.name)}`;
    if (entry.value !== undefined && entry.value !== entry.name) {
      const value = cut(squeeze(entry.value), 160);
      out += entry.role === 'link' ? ` → ${clean(value).replace(/ /g, '%20')}` : ` = ${quoted(value)}`;
    }
    if (entry.states) out += ` (${entry.states.join(', ')})`;
    if (entry.options) {
      const some = entry.options.slice(0, 12).map(quoted).join(', ');
      out += ` {options: ${some}${entry.options.length > 12 ? `, … ${entry.options.length - 12} more` : ''}}`;
    }
    return out;
  };

  /** Reads the frame. `clip` is the part of its window that can be seen. */
  w.calls.read = ({ next, clip }) => {
    w.prune();
    const window_ = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const walk = new Walk(next, clip ? meet(window_, clip) : window_);
    const root = document.body || document.documentElement;
    if (root) {
      if (tag(root) === 'frameset') walk.children(root, walk.clip, false);
      else walk.node(root, walk.clip, false);
    }
    return {
      text: told(walk.page.text()), elements: walk.elements, next: walk.counter.next,
      more: walk.more, stopped: walk.stopped, title: squeeze(document.title), url: location.href,
      scroll: w.scrolled(),
    };
  };

  /**
   * Tells which elements answer to clicks. Each comes as the way to it: `3` is the fourth
   * element in the one before, `-1` its shadow tree.
   */
  w.calls.heard = ({ paths }) => {
    HEARD.clear();
    for (const path of paths) {
      let at = document;
      for (const step of path) at = at && (step < 0 ? at.shadowRoot : at.children[step]);
      if (at && at.nodeType === 1) HEARD.add(at);
    }
  };

  /** Numbers the frames in this frame, in reading order; returns how many there are. */
  let framed = [];
  w.calls.frames = () => {
    framed = [];
    const walk = (root) => {
      const found = root.querySelectorAll('*');
      for (const el of found) {
        if (tag(el) === 'iframe' || tag(el) === 'frame') framed.push(el);
        if (el.shadowRoot) walk(el.shadowRoot);
      }
    };
    walk(document);
    FRAMES.clear();
    framed.forEach((el, number) => FRAMES.set(el, number));
    return framed.length;
  };
  w.frame = (number) => framed[number];
})();
