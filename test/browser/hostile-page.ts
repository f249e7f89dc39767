/** The script of a hostile page: tries every request that a page of another origin can make, and records the results. */
export const hostileScript = `
const results = {};
const note = (name, value) => { results[name] = value; };
/** 'blocked', or what was read or reached */
async function attempt(name, run) {
  try {
    note(name, await run());
  } catch (error) {
    note(name, 'blocked');
  }
}

const change = JSON.stringify({ rate: 7 });
const readable = async (response) => (response.type === 'opaque' ? 'opaque' : 'read: ' + await response.text());
const send = (base, path, options) => fetch(base + path, options).then(readable);

async function fetches(base) {
  const json = { 'Content-Type': 'application/json' };
  await attempt('fetch POST of JSON', () => send(base, '/api/sim/controls/time', { method: 'POST', headers: json, body: change }));
  await attempt('fetch POST of JSON as text', () => send(base, '/api/sim/controls/time', { method: 'POST', body: change }));
  await attempt('fetch POST of JSON as text, no-cors', () =>
    send(base, '/api/sim/controls/time', { method: 'POST', mode: 'no-cors', body: change }));
  await attempt('fetch POST without body, no-cors', () => send(base, '/api/sim/stop', { method: 'POST', mode: 'no-cors' }));
  await attempt('fetch POST without referrer, no-cors', () =>
    send(base, '/api/sim/stop', { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer' }));
  await attempt('fetch PUT', () => send(base, '/api/sim/controls/time', { method: 'PUT', body: change }));
  await attempt('fetch with the header of the dashboard', () => {
    const headers = { ...json, 'X-Derbench-Client': 'dashboard' };
    return send(base, '/api/sim/controls/time', { method: 'POST', headers, body: change });
  });
  await attempt('fetch GET', () => send(base, '/api/sim/overview'));
  await attempt('fetch GET, no-cors', () => send(base, '/api/sim/overview', { mode: 'no-cors' }));
  await attempt('fetch GET with credentials', () => send(base, '/api/sim/overview', { credentials: 'include' }));
  await attempt('XMLHttpRequest', () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', base + '/api/sim/controls/time');
    request.onload = () => resolve('read: ' + request.responseText);
    request.onerror = reject;
    request.send(change);
  }));
}

function beacons(base) {
  navigator.sendBeacon(base + '/api/sim/stop');
  navigator.sendBeacon(base + '/api/sim/controls/time', change);
  navigator.sendBeacon(base + '/api/sim/controls/time', new Blob([change], { type: 'application/json' }));
}

/** Loads an element; what loads tells at least that it is there. */
const loaded = (element) => new Promise((resolve, reject) => {
  element.onload = element.onloadeddata = () => resolve('loaded');
  element.onerror = reject;
  document.body.append(element);
});

async function elements(base) {
  for (const path of ['/api/sim/overview', '/openapi.json', '/redoc.standalone.js', '/docs/swagger-ui-init.js']) {
    await attempt('script ' + path, () => loaded(Object.assign(document.createElement('script'), { src: base + path })));
    await attempt('module ' + path, () => loaded(Object.assign(document.createElement('script'), { src: base + path, type: 'module' })));
  }
  for (const path of ['/docs/favicon-32x32.png', '/api/sim/overview']) {
    await attempt('image ' + path, () => loaded(Object.assign(new Image(), { src: base + path })));
  }
  await attempt('style', () => loaded(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: base + '/pages.css' })));
  await attempt('worker', () => new Promise((resolve, reject) => {
    const imports = 'importScripts("' + base + '/redoc.standalone.js")';
    const source = 'try { ' + imports + '; postMessage("loaded"); } catch (error) { postMessage("blocked"); }';
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
  }));
}

async function streams(base) {
  await attempt('EventSource', () => new Promise((resolve, reject) => {
    const source = new EventSource(base + '/api/sim/overview');
    source.onopen = () => resolve('open');
    source.onmessage = ({ data }) => resolve('read: ' + data);
    source.onerror = (error) => { source.close(); reject(error); };
  }));
  for (const path of ['/api/sim/ws/telemetry', '/api/sim/telemetry/ws?device=0']) {
    await attempt('WebSocket ' + path, () => new Promise((resolve, reject) => {
      const socket = new WebSocket(base.replace('http', 'ws') + path);
      socket.onopen = () => resolve('open');
      socket.onmessage = ({ data }) => resolve('read: ' + data);
      socket.onerror = reject;
    }));
  }
}

/** Forms are sent into frames; the load of the frame ends the attempt, whatever it shows. */
async function forms(base) {
  const fields = {
    'application/x-www-form-urlencoded': ['rate', '7'],
    'multipart/form-data': ['rate', '7'],
    'text/plain': ['{"rate":7,"x":"', '"}'],
  };
  for (const [enctype, [name, value]] of Object.entries(fields)) {
    for (const path of ['/api/sim/controls/time', '/api/sim/stop']) {
      const frame = Object.assign(document.createElement('iframe'), { name: 'frame' + document.querySelectorAll('iframe').length });
      const form = Object.assign(document.createElement('form'), { method: 'POST', action: base + path, enctype, target: frame.name });
      form.append(Object.assign(document.createElement('input'), { name, value, type: 'hidden' }));
      document.body.append(frame, form);
      const shown = new Promise((resolve) => { frame.onload = resolve; });
      form.submit();
      await shown;
      await attempt('form ' + enctype + ' ' + path, () => 'read: ' + frame.contentWindow.document.body.textContent);
    }
  }
}

async function frames(base) {
  for (const path of ['/', '/docs/', '/api/sim/overview']) {
    const frame = Object.assign(document.createElement('iframe'), { src: base + path });
    await loaded(frame).catch(() => undefined);
    await attempt('iframe ' + path, () => 'read: ' + frame.contentWindow.document.body.textContent);
  }
}

/** Its origin is null. */
async function sandbox(base) {
  await attempt('sandboxed frame', () => new Promise((resolve) => {
    addEventListener('message', ({ data }) => resolve(data), { once: true });
    const source = 'fetch("' + base + '/api/sim/stop", { method: "POST", mode: "no-cors" })'
      + '.then(({ type }) => type, () => "blocked").then((result) => parent.postMessage(result, "*"))';
    const frame = Object.assign(document.createElement('iframe'), { srcdoc: '<script>' + source + '<' + '/script>' });
    frame.sandbox = 'allow-scripts';
    document.body.append(frame);
  }));
}

/** Replaces this page by the answer to a form. */
function postWindow(action, enctype) {
  const form = Object.assign(document.createElement('form'), { method: 'POST', action, enctype });
  document.body.append(form);
  form.submit();
}

let opened;
function openWindow(url) { opened = window.open(url); }
function titleOfWindow() {
  try {
    return 'read: ' + opened.document.title;
  } catch {
    return 'blocked';
  }
}

async function attack(base) {
  await fetches(base);
  beacons(base);
  await elements(base);
  await streams(base);
  await sandbox(base);
  await forms(base);
  await frames(base);
  return results;
}
`;
