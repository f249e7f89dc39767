/** Settings of the Modbus proxy. */
import { bundledProxyMapNames, isBundledProxyMap } from '../profile/bundled.ts';
import { setting, unset } from './setting.ts';
import { host, pathOrName, port } from './value-kinds.ts';

export const proxySettings = {
  proxy: unset({
    flags: ['--proxy'],
    kind: pathOrName(isBundledProxyMap, `a bundled map (${bundledProxyMapNames.join(', ')}) or a path`),
    doc:
      'Proxy that serves the devices with the register map of another maker: a bundled map ' +
      `(${bundledProxyMapNames.join(', ')}) or a file.`,
  }),
  proxy_host: setting({
    flags: ['--proxy_host'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the proxy.',
  }),
  proxy_port: unset({
    flags: ['--proxy_port'],
    kind: port,
    doc: 'Port of the proxy; 0 = any free port. If not given: the port in the map, else 5020.',
  }),
};
