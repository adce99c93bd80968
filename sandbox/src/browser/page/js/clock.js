// Runs in the page's own world before its scripts, in hermetic webs: what tells the time
// tells the trial's: dates, the time of a document that came without one, new files. `__SHIFT__` is the logical time minus the machine's, in milliseconds;
// so time goes on as the machine's does. Not covered: workers (dedicated ones
// from a blob or an address too), and times of files that were uploaded.
(() => {
  const shift = __SHIFT__;
  const Real = Date;
  const now = () => Math.floor(Real.now() + shift);
  const proxy = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, args, made) => Reflect.construct(target, args.length ? args : [now()], made === proxy ? target : made),
    get: (target, key, self) => (key === 'now' ? ticking : Reflect.get(target, key, self)),
  });
  const ticking = { now() { return now(); } }.now;
  Object.defineProperty(Real.prototype, 'constructor', { value: proxy, writable: true, configurable: true, enumerable: false });
  globalThis.Date = proxy;
  const origin = Object.getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin');
  if (origin && origin.get) {
    Object.defineProperty(Performance.prototype, 'timeOrigin', { ...origin, get() { return origin.get.call(this) + shift; } });
  }
  const format = Intl.DateTimeFormat.prototype;
  const parts = format.formatToParts;
  format.formatToParts = { formatToParts(date) { return parts.call(this, date === undefined ? now() : date); } }.formatToParts;
  const bound = Object.getOwnPropertyDescriptor(format, 'format');
  const made = new WeakMap();
  Object.defineProperty(format, 'format', { ...bound, get() {
    const inner = bound.get.call(this);
    if (!made.has(this)) made.set(this, (date) => inner(date === undefined ? now() : date));
    return made.get(this);
  } });
  const modified = Object.getOwnPropertyDescriptor(Document.prototype, 'lastModified');
  const two = (number) => String(number).padStart(2, '0');
  Object.defineProperty(Document.prototype, 'lastModified', { ...modified, get() {
    const told = modified.get.call(this);
    // A document that was sent without a time tells the present one.
    if (Math.abs(Real.parse(told) - Real.now()) > 5000) return told;
    const at = new Real(now());
    return `${two(at.getMonth() + 1)}/${two(at.getDate())}/${at.getFullYear()} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
  } });
  const RealFile = File;
  const file = new Proxy(RealFile, {
    construct: (target, args, made) => {
      const [bits, name, options] = args;
      const given = options !== null && typeof options === 'object' ? options : {};
      if (args.length > 1 && given.lastModified === undefined) {
        args = [bits, name, { endings: given.endings, type: given.type, lastModified: now() }];
      }
      return Reflect.construct(target, args, made === file ? target : made);
    },
  });
  Object.defineProperty(RealFile.prototype, 'constructor', { value: file, writable: true, configurable: true, enumerable: false });
  globalThis.File = file;
  if (globalThis.Temporal && Temporal.Now) {
    const zone = Temporal.Now.timeZoneId.bind(Temporal.Now);
    const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
    const zoned = (at = zone()) => instant().toZonedDateTimeISO(at);
    Object.assign(Temporal.Now, {
      instant, zonedDateTimeISO: zoned,
      plainDateTimeISO: (at) => zoned(at).toPlainDateTime(),
      plainDateISO: (at) => zoned(at).toPlainDate(),
      plainTimeISO: (at) => zoned(at).toPlainTime(),
    });
  }
})();
