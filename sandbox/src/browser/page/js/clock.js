// Runs in the page's own world before its scripts, in hermetic webs: what tells the time
// tells the trial's. `__SHIFT__` is the logical time minus the machine's, in milliseconds;
// so time goes on as the machine's does. Workers, and file times, are not covered.
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
