/** What a release writes beside its packages: where they come from, their sums, the notes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const repository = 'https://github.com/derbench/derbench';

export async function sha256(file) {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

/** Lines of `sha256sum`, which `sha256sum -c` checks. */
export async function sumsOf(folder, names) {
  const lines = await Promise.all(names.map(async (name) => `${await sha256(join(folder, name))}  ${name}\n`));
  return lines.join('');
}

/**
 * Statement of in-toto on how files were built. It is not signed: a signature needs an identity, which only the CI of the
 * repository has.
 * @param build `version`, `commit`, sha256 of the lock file (`lock`), and the times `startedOn` and `finishedOn`
 */
export async function provenanceOf(folder, names, { version, commit, lock, startedOn, finishedOn }) {
  const subject = await Promise.all(
    names.map(async (name) => ({ name, digest: { sha256: await sha256(join(folder, name)) } })),
  );
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/scripts/release.mjs`,
        externalParameters: { version },
        resolvedDependencies: [
          { uri: `git+${repository}@refs/tags/v${version}`, digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lock } },
        ],
      },
      runDetails: {
        builder: { id: `${repository}/blob/main/scripts/release.mjs` },
        metadata: { startedOn, finishedOn },
      },
    },
  };
}

/** First table of a page of evidence. */
function firstTable(page) {
  return /(?:^\|.*\n?)+/m.exec(page)?.[0].trim() ?? 'No evidence has been written for this version.';
}

/** @param release `version`, `changes`, API versions `apiBefore` and `api`, the page of `evidence`, and the names of `files` */
export function notesOf({ version, changes, apiBefore, api, evidence, files }) {
  return `# derbench ${version}

API ${apiBefore} -> ${api}

Not published to any registry. Files of this release: ${files.join(', ')}.
\`provenance.intoto.json\` states how they were built; it is not signed. \`sha256sum -c SHA256SUMS\` checks them.

## Install

\`\`\`sh
npm install --save-dev ./derbench-${version}.tgz
\`\`\`

## Changes

${changes}

## Evidence

${firstTable(evidence)}
`;
}
