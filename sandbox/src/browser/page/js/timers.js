// Runs in the page's own world before its scripts: keeps count of the timers that the page
// is about to show something with, so that an action can wait for them. The scripts beside
// the page ask by an event, which is called off while one is pending; so each frame answers
// for itself, and nothing is added to what the page can name. Proxies keep what the page
// sees of the functions: names, lengths, errors, and text without a source.
(() => {
  const LONGEST = 2000; // milliseconds
  const DEEPEST = 5; // timers set by timers
  const HOPS = 64; // promises that may follow a timer and still count as part of it
  const { apply } = Reflect;
  const later = queueMicrotask;
  const add = EventTarget.prototype.addEventListener;
  const pending = new Set();
  let depth = 0;
  let turn = 0;

  const answer = (event) => {
    event.stopImmediatePropagation();
    if (pending.size) event.preventDefault();
  };
  // `document.open` takes listeners away; to add one that is there does nothing.
  const listen = () => apply(add, globalThis, ['wildgym-timers', answer, true]);

  // Whether converting it runs no code of the page.
  const plain = (value) => value === null || ['number', 'string', 'boolean', 'undefined'].includes(typeof value);

  // What follows in the same turn (`await pause(50)` in a loop) is as deep as the timer.
  const rise = (from, hops) => later(() => {
    if (turn !== from) return;
    if (hops) rise(from, hops - 1);
    else depth = 0;
  });
  const within = (level, handler, self, given) => {
    depth = level;
    turn += 1;
    try {
      return apply(handler, self, given);
    } finally {
      rise(turn, HOPS);
    }
  };

  globalThis.setTimeout = new Proxy(setTimeout, {
    apply(native, self, args) {
      const handler = args[0];
      const wait = plain(args[1]) ? args[1] | 0 : Infinity;
      const level = depth + 1;
      const counts = wait <= LONGEST && level <= DEEPEST;
      let id;
      if (typeof handler === 'function') {
        args[0] = function (...given) {
          pending.delete(id);
          return within(level, handler, this, given);
        };
      }
      id = apply(native, self, args);
      if (counts) {
        pending.add(id);
        listen();
        // A text runs as it is; one set right after it is due right after it.
        if (typeof handler !== 'function') native(() => pending.delete(id), wait);
      }
      return id;
    },
  });

  // What repeats is not waited for, nor what it sets.
  globalThis.setInterval = new Proxy(setInterval, {
    apply(native, self, args) {
      const handler = args[0];
      if (typeof handler === 'function') {
        args[0] = function (...given) {
          return within(DEEPEST, handler, this, given);
        };
      }
      return apply(native, self, args);
    },
  });

  // Either ends what the other one's sibling set.
  for (const name of ['clearTimeout', 'clearInterval']) {
    globalThis[name] = new Proxy(globalThis[name], {
      apply(native, self, args) {
        if (plain(args[0])) pending.delete(args[0] | 0);
        return apply(native, self, args);
      },
    });
  }
  listen();
})();
