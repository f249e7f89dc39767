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
    return numbers.flatMap((floor, i) => {
      const highest = Math.max(floor, ...earlier.map((past) => past[name]?.[i] ?? floor));
      const bound = exception ? Math.min(highest, exception.floors[i]) : highest;
      return floor < bound ? [`${file}: ${name} sank from ${bound} to ${floor}`] : [];
    });
  });
}

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Contents of a file in the commits that changed it; none outside of a repository. */
function versions(file) {
  try {
    const commits = git('log', '--format=%H', '--diff-filter=AM', '--', file).split('\n').filter(Boolean);
    return commits.map((commit) => JSON.parse(git('show', `${commit}:${file}`)));
  } catch {
    return [];
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lowered = JSON.parse(readFileSync(exceptionsFile, 'utf8'));
  const sunk = Object.entries(readers).flatMap(([file, read]) =>
    sunkFloors(file, read(JSON.parse(readFileSync(file, 'utf8'))), versions(file).map(read), lowered),
  );
  for (const sentence of sunk) console.error(sentence);
  console.log(
    `compared with ${Object.keys(readers)
      .map((file) => `${versions(file).length} versions of ${file}`)
      .join(', ')}`,
  );
  if (sunk.length > 0) process.exitCode = 1;
}
