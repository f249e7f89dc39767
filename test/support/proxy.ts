/** The bundled proxy maps. */
import { readFileSync } from 'node:fs';
import { bundledProxyMapPath } from '../../src/config/profile/bundled.ts';
import type { ProxyMap } from '../../src/sunspec/modbus/proxy/schema.ts';

export function bundledMap(name: string): ProxyMap {
  return JSON.parse(readFileSync(bundledProxyMapPath(name) ?? name, 'utf8')) as ProxyMap;
}
