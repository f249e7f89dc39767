/** Settings of the HTTP interface and the telemetry stream. */
import { setting } from './setting.ts';
import { host, hostList, integer, originList, port } from './value-kinds.ts';

export const webSettings = {
  website_ip: setting({
    flags: ['-wi', '--website_ip'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the HTTP interface, which has no authentication.',
  }),
  website_port: setting({
    flags: ['-wp', '--website_port'],
    kind: port,
    default: 8111,
    doc: 'Port of the HTTP interface; 0 = any free port, which is printed at start.',
  }),
};

/** Access from browsers. */
export const browserSettings = {
  cors_origin: setting({
    flags: ['--cors_origin'],
    kind: originList,
    default: [],
    doc: 'Web origin whose pages may call the HTTP interface from a browser.',
  }),
  allowed_host: setting({
    flags: ['--allowed_host'],
    kind: hostList,
    default: [],
    doc: 'Additional host name under which clients may call the HTTP interface.',
  }),
};

export const webLimits = {
  ws_max_clients: setting({
    kind: integer(1, 65535),
    default: 1024,
    doc: 'Maximum number of simultaneous clients of the telemetry stream.',
  }),
  http_max_connections: setting({
    kind: integer(1, 65535),
    default: 1024,
    doc: 'Maximum number of simultaneous HTTP connections.',
  }),
};
