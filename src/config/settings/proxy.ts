/** Settings of the Modbus proxy. */
import { bundledProxyMapNames, isBundledProxyMap } from '../profile/bundled.ts';
import { setting, unset } from './setting.ts';
import { host, pathOrName, port } from './value-kinds.ts';

export const proxySettings = {
  proxy: unset({
    flags: ['--proxy'],
    kind: pathOrName(isBundledProxyMap, `a bundled map (${bundledProxyMapNames.join(', ')}) or a path`),
    doc: `Serves the register map of another maker in front of the devices: a bundled map (${bundledProxyMapNames.join(', ')}) or a file.`,
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
    doc: 'Port of the proxy; 0 = any free port. Without it that of the map, else 5020.',
  }),
};
