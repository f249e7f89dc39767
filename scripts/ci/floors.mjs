/**
 * Floors only rise: coverage bounds and mutation scores against all that stood in their files before. A floor that sank
 * on purpose stands in `.ci/lowered-floors.json`, with its reason.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const exceptionsFile = '.ci/lowered-floors.json';

/** Files with floors, each read as lists of numbers by name. */
const readers = {
  '.coverage.json': (content) => content,
  'test/mutation.json': (content) => Object.fromEntries(content.map(({ module, floor }) => [module, [floor]])),
};

/**
 * Floors below an earlier value, in sentences. A name that is gone has none.
 *
 * @param file the name of the file, for `lowered`
 * @param floors lists of numbers by name
 * @param earlier the same of earlier commits, in any order
 * @param lowered `{ file, name, floors, reason }` each
 */
export function sunkFloors(file, floors, earlier, lowered) {
  return Object.entries(floors).flatMap(([name, numbers]) => {
    const exception = lowered.find((each) => each.file === file && each.name === name);
    const count = Math.max(numbers.length, ...earlier.map((past) => past[name]?.length ?? 0));
    return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
      const floor = numbers[i];
      if (typeof floor !== 'number' || Number.isNaN(floor)) return [`${file}: ${name} has no floor ${i + 1}`];
      const highest = Math.max(floor, ...earlier.map((past) => past[name]?.[i] ?? floor));
      const bound = Math.min(highest, exception?.floors[i] ?? highest);
      return floor < bound ? [`${file}: ${name} sank from ${bound} to ${floor}`] : [];
    });
  });
}

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Contents of a file in the commits that changed it. */
function versions(file) {
  const commits = git('log', '--format=%H', '--diff-filter=AM', '--', file).split('\n').filter(Boolean);
  return commits.map((commit) => JSON.parse(git('show', `${commit}:${file}`)));
}

function isRepository() {
  try {
    return git('rev-parse', '--is-inside-work-tree').trim() === 'true';
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lowered = JSON.parse(readFileSync(exceptionsFile, 'utf8'));
  const past = isRepository() ? versions : () => [];
  const sunk = Object.entries(readers).flatMap(([file, read]) => {
    const earlier = past(file).map(read);
    console.log(`${file}: compared with ${earlier.length} earlier versions`);
    return sunkFloors(file, read(JSON.parse(readFileSync(file, 'utf8'))), earlier, lowered);
  });
  for (const sentence of sunk) console.error(sentence);
  if (sunk.length > 0) process.exitCode = 1;
}
