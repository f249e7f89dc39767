/**
 * Compares the description of the interface with the last released one and checks the version step that the changes require.
 * `--release` makes the present document the released one.
 */
import { apiVersion } from '../src/api/http/context.ts';
import { groupBy } from '../src/api/http/paths.ts';
import type { Change } from './openapi-changes.ts';
import { checkRelease, release } from './openapi-release.ts';

const maxPlaces = 3;

function print(kind: string, changes: readonly Change[], max = maxPlaces): void {
  for (const [words, group] of groupBy(changes, (change) => change.words)) {
    const places = group.map(({ where }) => where);
    const more = places.length > max ? `; and ${places.length - max} more` : '';
    console.log(`${kind}: ${words}: ${places.slice(0, max).join('; ')}${more}`);
  }
}

const { released, changes, corrected, fault, present } = checkRelease();
const breaking = changes.filter(({ step }) => step === 'major');
const additive = changes.filter(({ step }) => step === 'minor');
print('breaking', breaking, Infinity);
print('additive', additive);
print('corrected description', corrected);
console.log(`${released} -> ${apiVersion}: ${breaking.length} breaking, ${additive.length} additive changes`);

if (fault !== null) {
  console.error(fault);
  process.exitCode = 1;
} else if (process.argv.includes('--release')) {
  release(present);
  console.log(`${apiVersion} is the released document now`);
}
