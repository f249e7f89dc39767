import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { errors, nkeys } from '@nats-io/transport-node';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { FleetError } from '../../../src/fleet/link.ts';
import type { LinkOptions } from '../../../src/fleet/link-options.ts';
import { connectFleet } from '../../../src/fleet/connect.ts';
import { connectionOptions, userOf } from '../../../src/fleet/nats/connect.ts';
import { deniedText, fleetErrorOf, violationOf } from '../../../src/fleet/nats/errors.ts';

const log = { info: () => undefined, warning: () => undefined };
const optionsOf = (server: string, over: Partial<LinkOptions> = {}): LinkOptions => ({
  servers: [server],
  prefix: 'lab',
  name: 'test',
  log,
  waitMs: 0,
  ...over,
});

/** The refusal of options before any connection; `none`: they are taken. */
function refusal(server: string, over: Partial<LinkOptions> = {}): string {
  try {
    connectionOptions(optionsOf(server, over));
    return 'none';
  } catch (error) {
    if (error instanceof FleetError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe('fleet/nats: the connection', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'derbench-connect-'))));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  it('sends clear text to this machine only, unless it may', () => {
    for (const server of ['nats://localhost:4222', 'nats://127.0.0.9', 'nats://[::1]:4222', 'tls://lab.example:4222'])
      expect(refusal(server), server).to.equal('none');
    for (const server of ['nats://lab.example', 'nats://10.0.0.7:4222', 'nats://127.example', 'nats://[fe80::1]']) {
      expect(refusal(server), server).to.match(/^denied: .* would send everything in clear text: use tls:\/\//);
      expect(refusal(server, { plain: true }), server).to.equal('none');
    }
  });

  it('takes addresses of NATS alone, without credentials in them', () => {
    for (const server of ['lab', 'http://localhost:4222', 'nats://'])
      expect(refusal(server), server).to.contain('is no address of a NATS server');
    for (const server of ['nats://me@localhost', 'nats://:secret@localhost']) {
      expect(refusal(server)).to.equal(
        'denied: the address of a NATS server must not have credentials: they come from files',
      );
    }
    expect(
      connectionOptions(optionsOf('nats://localhost:4222', { servers: ['nats://localhost', 'tls://b.example:1'] })),
    ).to.deep.include({ servers: ['localhost', 'b.example:1'], name: 'test', maxReconnectAttempts: -1, tls: {} });
    expect(connectionOptions(optionsOf('nats://localhost'))).not.to.have.property('tls');
  });

  it('logs in by one way, the secrets of which are read again for each attempt', () => {
    const local = 'nats://localhost';
    const login = (credentials: NonNullable<LinkOptions['credentials']>) =>
      connectionOptions(optionsOf(local, { credentials }));
    expect(login({ user: 'me', password: 'x' })).to.include({ user: 'me', pass: 'x' });
    expect(login({ user: 'me' }))
      .to.include({ user: 'me' })
      .and.not.have.property('pass');
    expect(login({ token: 't' })).to.include({ token: 't' });
    const [one, two] = [nkeys.createUser(), nkeys.createUser()];
    const seedOf = (key: typeof one) => `${Buffer.from(key.getSeed()).toString()}\n`;
    const nkeyFile = file('user.nk', seedOf(one));
    const { authenticator } = login({ nkeyFile });
    const shownUser = () => (authenticator as (nonce?: string) => { readonly nkey: string })('nonce').nkey;
    expect(shownUser()).to.equal(one.getPublicKey());
    file('user.nk', seedOf(two));
    expect(shownUser(), 'renewed').to.equal(two.getPublicKey());
    expect(userOf({ nkeyFile })).to.equal(two.getPublicKey());
    expect([userOf({ credsFile: 'a.creds' }), userOf({ user: 'me' }), userOf()]).to.deep.equal(['a.creds', 'me', '']);
  });

  it('names a file of credentials or certificates that is of no use', () => {
    const nkeyFile = file('broken.nk', 'no seed');
    expect(refusal('nats://localhost', { credentials: { nkeyFile } })).to.match(/^denied: .*broken\.nk: /);
    const credsFile = join(folder, 'missing.creds');
    expect(refusal('nats://localhost', { credentials: { credsFile } })).to.match(/^denied: .*missing\.creds/);
    expect(refusal('tls://b.example', { tls: { caFile: join(folder, 'ca.pem') } })).to.match(/^denied: .*ca\.pem/);
  });

  it('is not tried for a prefix that no subject can have, and ends when its time is over', async () => {
    const failure = (options: LinkOptions) =>
      connectFleet(options).then(
        () => null,
        (error: unknown) => error,
      );
    for (const prefix of ['', 'a.b', 'a b', '*'])
      expect(await failure(optionsOf('nats://localhost', { prefix }))).to.have.property('code', 'refused');
    const error = await failure(optionsOf('nats://127.0.0.1:1'));
    expect(error).to.have.property('code', 'offline');
    expect((error as Error).message).to.match(/^no NATS server at nats:\/\/127\.0\.0\.1:1 within 0 s: /);
  });
});

describe('fleet/nats: errors of the packages', () => {
  const violation = new errors.PermissionViolationError('no', 'publish', 'lab.tick.a');

  it('say what a caller can do about them', () => {
    const api = (code: number) => new JetStreamApiError({ code: 400, err_code: code, description: 'x' });
    const table: readonly (readonly [unknown, string])[] = [
      [api(JetStreamApiCodes.StreamWrongLastSequence), 'conflict'],
      [api(JetStreamApiCodes.StreamWrongLastSequenceUnknown), 'conflict'],
      [api(JetStreamApiCodes.StreamNotFound), 'timeout'],
      [new errors.ClosedConnectionError(), 'offline'],
      [new errors.DrainingConnectionError(), 'offline'],
      [violation, 'denied'],
      [new Error('x', { cause: new Error('y', { cause: violation }) }), 'denied'],
      ['a text', 'timeout'],
    ];
    expect(table.map(([error]) => fleetErrorOf('get "a"', error).code)).to.deep.equal(table.map(([, code]) => code));
    const own = new FleetError('too-large', 'x');
    expect(fleetErrorOf('get', own)).to.equal(own);
    expect(fleetErrorOf('get "a"', violation).message).to.equal(
      'get "a": permission to publish on "lab.tick.a" is missing',
    );
  });

  it('name the permission that is missing', () => {
    expect(violationOf(new Error('x'))).to.equal(null);
    expect(violationOf(undefined)).to.equal(null);
    expect(deniedText({ operation: 'subscription', subject: 'lab.>' })).to.equal(
      'permission to subscribe to "lab.>" is missing',
    );
  });
});
