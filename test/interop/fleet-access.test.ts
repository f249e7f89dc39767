/** A shard and a gateway that the server of a fleet refuses, each with one line that says why. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { connectFleet } from '../../src/fleet/connect.ts';
import { FleetError } from '../../src/fleet/link.ts';
import type { LinkOptions } from '../../src/fleet/link-options.ts';
import { testPki } from '../support/pki.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';

const quiet = { info: () => undefined, warning: () => undefined };

describeWith(['nats'], 'access to a fleet', function () {
  this.timeout(30_000);
  let folder: string;
  let server: NatsServer;
  let caFile: string;
  const seedFile = (name: string) => join(folder, `${name}.nk`);

  /** @returns the public key */
  function makeKey(name: string): string {
    const pair = nkeys.createUser();
    writeFileSync(seedFile(name), pair.getSeed());
    return pair.getPublicKey();
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-access-'));
    const pki = await testPki();
    const paths = Object.fromEntries(
      Object.entries({ ca: pki.ca.cert, cert: pki.server.cert, key: pki.server.key }).map(([name, text]) => {
        const path = join(folder, `${name}.pem`);
        writeFileSync(path, text);
        return [name, path];
      }),
    );
    caFile = paths['ca'] ?? '';
    makeKey('stranger');
    const all = `{ nkey: ${makeKey('shard')}, permissions: { publish: ">", subscribe: ">" } }`;
    const reader = `{ nkey: ${makeKey('reader')}, permissions: { publish: { deny: "$JS.API.>" }, subscribe: ">" } }`;
    const tls = `tls { cert_file: "${paths['cert']}", key_file: "${paths['key']}" }`;
    server = await NatsServer.start('nats', `${tls}\nauthorization { users: [ ${all}, ${reader} ] }`);
  });
  after(async () => {
    await server.end();
    rmSync(folder, { recursive: true });
  });

  const open = (key: string, more: Partial<LinkOptions> = {}) =>
    connectFleet({
      servers: [server.url.replace('nats:', 'tls:').replace('127.0.0.1', 'localhost')],
      prefix: 'derbench',
      name: 'test',
      log: quiet,
      waitMs: 0,
      tls: { caFile },
      credentials: { nkeyFile: seedFile(key) },
      ...more,
    });

  async function refusal(work: Promise<unknown>): Promise<readonly [code: string, text: string]> {
    try {
      await work;
    } catch (error) {
      if (error instanceof FleetError) return [error.code, error.message];
      throw error;
    }
    return ['none', ''];
  }

  it('is had with key and authority', async () => {
    const link = await open('shard');
    expect(link.state).to.equal('connected');
    await link.close();
  });

  for (const [what, work, line] of [
    ['a key that the server does not know', () => open('stranger'), /the server refuses the credentials/],
    ['no key', () => open('shard', { credentials: {} }), /the server refuses the credentials/],
    ['an authority that did not sign', () => open('shard', { tls: {} }), /TLS: .*\((UNABLE_TO|SELF_SIGNED)/],
    ['a missing permission', () => open('reader'), /permission to publish on "\$JS\.API\..*" is missing/],
  ] as const)
    it(`is refused with ${what}, in one line`, async () => {
      const [code, text] = await refusal(work());
      expect(code, text).to.equal('denied');
      expect(text).to.match(line).and.to.not.contain('\n');
    });
});
