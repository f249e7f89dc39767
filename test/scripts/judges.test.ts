/** The table of judges is complete: no interop file has a judge that the evidence would pass over. */
import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { claimsIn } from '../../scripts/evidence/refusals.ts';
import { versionOf } from '../../scripts/evidence/versions.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { aids, judges, procedures, unjudged } from '../interop/judges.ts';
import { peers } from '../interop/support/peers.ts';

const interop = readdirSync(packageFile('test/interop')).filter((name) => name.endsWith('.test.ts'));
const tests = readdirSync(packageFile('test'), { recursive: true, encoding: 'utf8' });
const parts = [...judges, ...procedures].flatMap((each) => each.tests);
const isOf = (file: string, files: readonly string[] = [file]) => files.some((each) => file.startsWith(each));
const textOf = (name: string) => readFileSync(packageFile(`test/interop/${name}`), 'utf8');

/** Peers in calls of `describeWith` with a list. */
function listedPeers(name: string): readonly string[] {
  const lists = textOf(name).matchAll(/describeWith\(\s*\[([^\]]*)\]/g);
  return [...lists].flatMap(([, list = '']) => [...list.matchAll(/'([^']+)'/g)].map(([, peer = '']) => peer));
}

describe('the table of judges', () => {
  it('has every peer of describeWith, as a judge or as an aid', () => {
    const judging: readonly string[] = [...parts.flatMap(({ peer }) => peer ?? []), ...judges.map(({ id }) => id)];
    expect(peers.filter((peer) => !judging.includes(peer) && !aids.includes(peer))).to.be.empty;
  });

  it('has a judge for each interop file, or names it as one without', () => {
    const unlisted = interop.filter((name) => {
      if (unjudged.some((each) => name === `${each}.test.ts`)) return false;
      const file = `interop/${name}`;
      if (parts.some(({ peer, files }) => peer === undefined && isOf(file, files))) return false;
      return !textOf(name).includes('describeWith(');
    });
    expect(unlisted).to.be.empty;
  });

  it('has a judge among the peers of each file that lists some, but for aids', () => {
    const judging = (name: string) =>
      listedPeers(name).filter((peer) =>
        parts.some((part) => part.peer === peer && isOf(`interop/${name}`, part.files)),
      );
    const isAid = (peer: string) => aids.some((aid) => aid === peer);
    const judged = interop.filter((name) => listedPeers(name).some((peer) => !isAid(peer)));
    expect(judged).not.to.be.empty;
    expect(judged.filter((name) => judging(name).length === 0)).to.be.empty;
  });

  it('names files that exist, and each row once', () => {
    const missing = parts
      .flatMap(({ files = [] }) => files)
      .filter((each) => !tests.some((file) => file.startsWith(each)));
    expect(missing).to.be.empty;
    const ids = [...judges, ...procedures].map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('finds the version of each judge whose version a file of the repository or a package has', () => {
    const unknown = judges.filter(
      ({ version }) => !('peer' in version || 'program' in version) && versionOf(version, packageFile('')) === null,
    );
    expect(unknown.map(({ id }) => id)).to.be.empty;
  });

  it('makes no claim of an alliance', () => {
    expect(claimsIn(JSON.stringify([judges, procedures]).replaceAll('"', ' '))).to.be.empty;
  });
});
