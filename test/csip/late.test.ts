import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

/** Modules that are there once a module is loaded; types leave no import behind, and `import()` comes later. */
function loadedBy(start: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    if (!path.endsWith('.ts')) continue;
    for (const [, from = ''] of readFileSync(path, 'utf8').matchAll(
      /^(?:import(?! type)|export)\b[^;]*?from '([^']+)';/gm,
    ))
      waiting.push(from.startsWith('.') ? normalize(join(dirname(path), from)) : from);
  }
  return loaded;
}

describe('a process without CSIP', () => {
  it('loads the adapter alone: not its parts, and no library of theirs', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app.ts')];
    expect(loaded).to.include('src/csip/adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/csip/'));
    expect(parts.sort()).to.deep.equal(['src/csip/adapter.ts', 'src/csip/compose.ts']);
    for (const library of ['undici', 'fast-xml-parser', 'multicast-dns']) expect(loaded).to.not.include(library);
    expect([...loadedBy('src/csip/assembly.ts')]).to.include('src/csip/walk/walk.ts');
  });
});
