import type { AppConfig } from './app-config.ts';
import type { Issue } from '../../core/errors.ts';
import { bundledProxyMapNames, bundledProxyMapPath, profileNameOf } from '../profile/bundled.ts';
import { refused } from '../issues/issues.ts';
import { readMapping, systemIo } from '../layers/files.ts';
import type { Gathered } from '../layers/gather.ts';

/** The proxy that the settings ask for, with its map as it stands in the file: the proxy itself knows what a map is. */
export function proxyOf({ values, originOf, io }: Gathered, issues: Issue[]): AppConfig['proxy'] {
  const { proxy: text, proxy_host: host, proxy_port: port } = values;
  if (text === null) return null;
  const name = originOf('proxy');
  const bundled = bundledProxyMapPath(text);
  if (bundled === undefined && !io.isFile(text)) {
    issues.push(
      refused(name, text, `the path of a file that exists, or a bundled map (${bundledProxyMapNames.join(', ')})`),
    );
    return null;
  }
  const map = readMapping(bundled ?? text, name, bundled === undefined ? io : systemIo, issues);
  return map && { map, mapLabel: profileNameOf(text), host, port };
}
