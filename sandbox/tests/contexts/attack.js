// Everything that a page can try to reach something beside its proxy. Each attempt has
// a port of its own, on which the test listens: a connection to it names the hole.

const HERE = '127.0.0.1';
const FAR = '192.0.2.77';
const sleep = ms => new Promise(done => setTimeout(done, ms));

const add = (tag, attributes, parent = document.body) => {
  const element = document.createElement(tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  parent.appendChild(element);
  return element;
};
const head = (tag, attributes) => add(tag, attributes, document.head);
const at = (port, host = HERE, scheme = 'http') => `${scheme}://${host}:${port}/`;
const through = (path, port, scheme = 'http') =>
  `${path}?u=${encodeURIComponent(at(port, HERE, scheme))}`;
const get = url => fetch(url, { mode: 'no-cors' });
const frame = source => add('iframe', { src: source });
const inline = code => `<script>${code}</scr` + 'ipt>';
const blob = (code, type) => URL.createObjectURL(new Blob([code], { type }));
const opened = async (url, features = '') => {
  const page = window.open(url, '_blank', features);
  await sleep(1500);
  page?.close();
};

// Two ends of a call in one page, with servers to ask and addresses to try.
const call = async (servers, candidates = []) => {
  const [a, b] = [new RTCPeerConnection({ iceServers: servers }), new RTCPeerConnection()];
  a.createDataChannel('x');
  await a.setLocalDescription(await a.createOffer());
  await b.setRemoteDescription(a.localDescription);
  await b.setLocalDescription(await b.createAnswer());
  await a.setRemoteDescription(b.localDescription);
  for (const candidate of candidates) {
    await a.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 }).catch(() => 0);
  }
  await sleep(2500);
  a.close();
  b.close();
};
const udp = (host, port) => `candidate:1 1 udp 2122260223 ${host} ${port} typ host`;
const tcp = (host, port) =>
  `candidate:1 1 tcp 1518280447 ${host} ${port} typ host tcptype passive`;
const turn = { username: 'a', credential: 'b' };

const ATTEMPTS = {
  // Requests of scripts.
  'fetch': p => get(at(p)),
  'fetch over TLS': p => get(at(p, HERE, 'https')),
  'fetch kept alive': p => fetch(at(p), { mode: 'no-cors', keepalive: true }),
  'fetch later': p => fetchLater(at(p, HERE, 'https'), { activateAfter: 100 }),
  'XHR': p => { const x = new XMLHttpRequest(); x.open('GET', at(p)); x.send(); },
  'import': p => import(at(p) + 'a.js'),
  'event source': p => new EventSource(at(p)),
  'beacon': p => navigator.sendBeacon(at(p), 'x'),
  'web socket': p => new WebSocket(at(p, HERE, 'ws')),
  'web socket over TLS': p => new WebSocket(at(p, HERE, 'wss')),
  'web socket stream': p => new WebSocketStream(at(p, HERE, 'wss')).opened,
  'web transport': p => new WebTransport(at(p, HERE, 'https')).ready,
  'web transport, pinned': p => new WebTransport(at(p, HERE, 'https'), {
    serverCertificateHashes: [{ algorithm: 'sha-256', value: new Uint8Array(32) }],
  }).ready,
  // What elements load.
  'image': p => add('img', { src: at(p) }),
  'style sheet': p => add('link', { rel: 'stylesheet', href: at(p) }),
  'background': p => add('div', { style: `background:url(${at(p)});width:9px;height:9px` }),
  'font': p => new FontFace('f', `url(${at(p)})`).load(),
  'script': p => add('script', { src: at(p) }),
  'video': p => add('video', { src: at(p), autoplay: 1 }),
  'audio': p => new Audio(at(p)).play(),
  'object': p => add('object', { data: at(p), type: 'text/html' }),
  'embed': p => add('embed', { src: at(p), type: 'text/html' }),
  'icon': p => head('link', { rel: 'icon', href: at(p) }),
  'manifest': p => head('link', { rel: 'manifest', href: at(p) }),
  'track': p => { const v = add('video', {}); add('track', { src: at(p), default: 1 }, v); },
  'SVG use': p => { document.body.insertAdjacentHTML('beforeend',
    `<svg><image href="${at(p)}"/></svg>`); },
  // Hints.
  'prefetch': p => head('link', { rel: 'prefetch', href: at(p) }),
  'preload': p => head('link', { rel: 'preload', as: 'fetch', href: at(p), crossorigin: '' }),
  'module preload': p => head('link', { rel: 'modulepreload', href: at(p) }),
  'preconnect': p => head('link', { rel: 'preconnect', href: at(p) }),
  'DNS prefetch': p => head('link', { rel: 'dns-prefetch', href: `http://d${p}.leak.test` }),
  'speculation': p => {
    const rules = head('script', { type: 'speculationrules' });
    rules.textContent = JSON.stringify({ prefetch: [{ urls: [at(p)], eagerness: 'immediate' }] });
  },
  'link header': p => frame(through('/link', p)),
  // Navigation.
  'frame': p => frame(at(p)),
  'frame of text': p => add('iframe', { srcdoc: inline(`fetch('${at(p)}')`) }),
  'sandboxed frame': p => add('iframe', { sandbox: 'allow-scripts',
    srcdoc: inline(`fetch('${at(p)}', { mode: 'no-cors' })`) }),
  'data frame': p => frame('data:text/html,' + encodeURIComponent(`<img src="${at(p)}">`)),
  'blob frame': p => frame(blob(`<img src="${at(p)}">`, 'text/html')),
  'form': p => {
    add('iframe', { name: 'form' });
    add('form', { action: at(p), method: 'post', target: 'form' }).submit();
  },
  'meta refresh': p => frame(through('/refresh', p)),
  'redirect': p => frame(through('/redirect', p)),
  'popup': p => opened(at(p)),
  'popup without opener': p => opened(at(p), 'noopener'),
  'popup of a blob': p => opened(blob(`<img src="${at(p)}">`, 'text/html')),
  'download': p => {
    add('iframe', { name: 'download' });
    add('a', { href: at(p), download: 'f', target: 'download' }).click();
  },
  'ping': p => {
    add('iframe', { name: 'ping' });
    add('a', { href: '/ok', ping: at(p), target: 'ping' }).click();
  },
  'other protocols': p => ['ftp', 'ssh', 'gopher', 'ws'].forEach(s => frame(at(p, HERE, s))),
  // Workers.
  'worker': p => new Worker(through('/worker.js', p)),
  'blob worker': p =>
    new Worker(blob(`fetch('${at(p)}', { mode: 'no-cors' })`, 'text/javascript')),
  'web socket of a worker': p =>
    new Worker(blob(`new WebSocket('${at(p, HERE, 'ws')}')`, 'text/javascript')),
  'shared worker': p => new SharedWorker(through('/worker.js', p)).port.start(),
  'service worker': p =>
    navigator.serviceWorker.register(through('/service.js', p), { scope: '/none/' }),
  'worklet': async p => {
    const context = new AudioContext();
    await context.audioWorklet.addModule(at(p));
  },
  // Reports.
  'report of a violation': p => frame(through('/violation', p)),
  'reporting': p => frame(through('/reporting', p, 'https')),
  // Calls.
  'STUN here': p => call([{ urls: `stun:${HERE}:${p}` }]),
  'STUN far': p => call([{ urls: `stun:${FAR}:${p}` }]),
  'STUN by name': p => call([{ urls: `stun:s${p}.leak.test:${p}` }]),
  'TURN over UDP': p => call([{ urls: `turn:${HERE}:${p}?transport=udp`, ...turn }]),
  'TURN over TCP': p => call([{ urls: `turn:${HERE}:${p}?transport=tcp`, ...turn }]),
  'TURN over TLS': p => call([{ urls: `turns:${HERE}:${p}?transport=tcp`, ...turn }]),
  'call to an address': p => call([], [udp(HERE, p), udp(FAR, p)]),
  'call over TCP': p => call([], [tcp(HERE, p), tcp(FAR, p)]),
  'call to a local name': p => call([], [udp('aaaaaaaa-0000-4000-8000-000000000001.local', p)]),
  // What asks others on behalf of the page.
  'payment': p => new PaymentRequest([{ supportedMethods: at(p, HERE, 'https') }],
    { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment(),
  'federated login': p => navigator.credentials.get({ identity: {
    providers: [{ configURL: `https://f${p}.leak.test/c.json`, clientId: 'x' }] } }),
  'presentation': p => new PresentationRequest([at(p, HERE, 'https'), 'cast:CC1AD845'])
    .getAvailability(),
  'location': () => navigator.geolocation.getCurrentPosition(() => 0, () => 0),
  'speech': () => new webkitSpeechRecognition().start(),
  // Spellings of this machine and of what lies around it.
  ...Object.fromEntries([
    'localhost', 'a.localhost', 'localhost.', '127.0.0.2', '127.1', '0x7f.1', '0177.0.0.1',
    '2130706433', '0', '0.0.0.0', '[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]', '169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '10.0.0.1',
    '192.168.0.1', '172.17.0.1', FAR, 'metadata.google.internal', 'printer.local', 'leak.test',
  ].map(host => [`to ${host}`, p => get(at(p, host))])),
  // Files and the browser's own pages.
  ...Object.fromEntries([SECRET, `view-source:${SECRET}`, 'chrome://version', 'chrome://net-export',
    'devtools://devtools/bundled/inspector.html', 'view-source:http://127.0.0.1/',
    `filesystem:${SECRET}`,
  ].flatMap(url => [
    [`fetch of ${url}`, () => fetch(url)],
    [`frame of ${url}`, () => frame(url)],
    [`script of ${url}`, () => add('script', { src: url })],
    [`image of ${url}`, () => add('img', { src: url })],
    [`popup of ${url}`, () => opened(url)],
    [`worker of ${url}`, () => new Worker(blob(`importScripts('${url}')`, 'text/javascript'))],
  ])),
};

const names = Object.keys(ATTEMPTS);
const attempt = async (name, port) => {
  try {
    await Promise.race([ATTEMPTS[name](port), sleep(4000)]);
  } catch { /* Refused, as it should be. */ }
};
// A few at a time: connections wait for each other where there are many.
const runAll = async ports => {
  for (let first = 0; first < names.length; first += 24) {
    const some = names.slice(first, first + 24);
    await Promise.all(some.map((name, i) => attempt(name, ports[first + i])));
  }
  await sleep(1500);
  return 'done';
};
