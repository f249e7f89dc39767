/**
 * Compares the description of the interface with the last released one and demands the version step that the changes ask for.
 * `--release` makes the present one the released one.
 */
import { apiVersion } from '../src/api/http/context.ts';
import { groupBy } from '../src/api/common/group-by.ts';
import type { Change } from './openapi-changes.ts';
import { checkRelease, release } from './openapi-release.ts';

const mostPlaces = 3;

function print(kind: string, changes: readonly Change[], most = mostPlaces): void {
  for (const [words, group] of groupBy(changes, (change) => change.words)) {
    const places = group.map(({ where }) => where);
    const more = places.length > most ? `; and ${places.length - most} more` : '';
    console.log(`${kind}: ${words}: ${places.slice(0, most).join('; ')}${more}`);
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
