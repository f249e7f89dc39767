import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Modules that are there once a module is loaded; types leave no import behind, and `import()` comes later. */
export function loadedBy(start: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    if (!path.endsWith('.ts')) continue;
    for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(
      /^(?:import|export)(?! type)\b[^;]*?from '([^']+)';/gm,
    ))
      waiting.push(from.startsWith('.') ? normalize(join(dirname(path), from)) : from);
  }
  return loaded;
}
