import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { roles } from '../../src/sunspec/modbus/access/certificate-role.ts';
import { adu } from '../support/modbus-client.ts';
import { programCommand, startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, PeerError, python, PythonPeer } from './support/peers.ts';
import { makePki, PkiOnDisk } from './support/pki-on-disk.ts';
import { skip } from '../support/skip.ts';

/** The marker, the first model id and its length could be read, and then no more. */
const refusedAtModel1 = /Modbus exception 1: addr: 40002 count: 68$/;

/** Runs a test with a master and ends it afterwards. */
async function asMaster<T>(
  port: number,
  files: readonly string[],
  act: (master: PythonPeer) => Promise<T>,
): Promise<T> {
  const master = new PythonPeer('sunspec_master', port, ...files);
  try {
    return await act(master);
  } finally {
    await master.stop();
  }
}

/** The reason why a scan fails; null: it succeeds. */
async function scanFailure(port: number, files: readonly string[]): Promise<PeerError | null> {
  return asMaster(port, files, async (master) => {
    try {
      await master.ask('scan');
      return null;
    } catch (error) {
      if (error instanceof PeerError) return error;
      throw error;
    }
  });
}

describeWith(['openssl'], 'derbench pki --modbus', () => {
  let pki: PkiOnDisk;
  before(() => {
    pki = new PkiOnDisk();
  });
  after(() => {
    pki.remove();
  });

  const text = (name: string) =>
    execFileSync('openssl', ['x509', '-noout', '-text', '-in', pki.path(name)], { encoding: 'utf8' });
  const verifies = (name: string) =>
    spawnSync('openssl', ['verify', '-x509_strict', '-CAfile', pki.path('ca.pem'), pki.path(name)]).status === 0;

  it('the log names each certificate that was made', () => {
    const made = readdirSync(pki.directory).filter((name) => name.endsWith('.pem'));
    expect(made).to.have.lengthOf(13);
    for (const name of made) expect(pki.output).to.match(new RegExp(`^${name} +\\S`, 'm'));
  });

  it('makes P-256 certificates that verify against the CA, except the deliberately bad ones', () => {
    for (const name of [
      'server',
      'readonly',
      'gridservice',
      'netadmin',
      'superadmin',
      'bad-no-role',
      'bad-two-roles',
      'bad-unknown-role',
      'bad-encoding',
    ]) {
      expect(verifies(`${name}.pem`), name).to.equal(true);
      expect(text(`${name}.pem`), name).to.match(/NIST CURVE: P-256/);
    }
    for (const name of ['bad-expired', 'bad-foreign']) expect(verifies(`${name}.pem`), name).to.equal(false);
    expect(text('server.pem'))
      .to.match(/DNS:localhost, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1/)
      .and.not.match(/50316/);
  });

  it('keeps existing files when it runs again', () => {
    const contents = () =>
      readdirSync(pki.directory)
        .sort()
        .map((name) => [name, readFileSync(pki.path(name), 'latin1')]);
    const before = contents();
    expect(makePki(pki.directory)).to.equal(pki.output);
    expect(contents()).to.deep.equal(before);
    rmSync(pki.path('netadmin.pem'));
    makePki(pki.directory);
    expect(verifies('netadmin.pem')).to.equal(true);
  });

  it('names further hosts in a new certificate of the server', () => {
    rmSync(pki.path('server.pem'));
    const said = makePki(pki.directory, ['der.example', '10.0.0.5', 'fd00::5']);
    const names =
      /DNS:localhost, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1, DNS:der\.example, IP Address:10\.0\.0\.5, IP Address:FD00:0:0:0:0:0:0:5/;
    expect(text('server.pem')).to.match(names);
    expect(said).to.match(names);
    expect(makePki(pki.directory)).to.match(names);
    expect(verifies('server.pem')).to.equal(true);
  });
});

describeWith(['openssl'], 's_client of openssl against Modbus over TLS', () => {
  let pki: PkiOnDisk;
  let simulator: RunningSimulator;
  before(async () => {
    pki = new PkiOnDisk();
    simulator = await startSimulator(pki.flags);
  });
  after(async () => {
    expect(await simulator.stop()).to.equal(0);
    pki.remove();
  });

  /** The answer that s_client gets to one request, and its report of the session. */
  async function session(
    client: string,
    options: readonly string[],
    request = adu(1, 1, '039c400002'),
  ): Promise<{ answer: Buffer; said: string; code: number | null }> {
    const [ca, certificate, key] = pki.client(client);
    const child = spawn('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${simulator.modbusPort}`,
      '-CAfile',
      ca,
      '-cert',
      certificate,
      '-key',
      key,
      '-verify_return_error',
      '-brief',
      ...options,
    ]);
    let said = '';
    const chunks: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      child.stdin.end();
    });
    child.stdin.write(request);
    const code = await new Promise<number | null>((resolve) => {
      child.on('close', resolve);
    });
    return { answer: Buffer.concat(chunks), said, code };
  }

  it('the start-up lines name TLS and no address without it', () => {
    expect(simulator.output).to.match(/^ *Modbus +127\.0\.0\.1:\d+ \(TLS, unit 1, SunSpec base 40000\)$/m);
    expect(simulator.output)
      .to.match(/Modbus over TLS on 127\.0\.0\.1:\d+/)
      .and.not.match(/Modbus TCP on/);
  });

  const sunS = '00010000000701030453756e53';
  for (const suite of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-ECDSA-AES128-CCM8']) {
    it(`TLS 1.2 ${suite}`, async () => {
      const { answer, said } = await session('readonly', ['-tls1_2', '-cipher', `${suite}:@SECLEVEL=0`]);
      expect(said)
        .to.include('Protocol version: TLSv1.2')
        .and.include(`Ciphersuite: ${suite}`)
        .and.include('Verification: OK');
      expect(answer.toString('hex')).to.equal(sunS);
    });
  }
  for (const suite of ['TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_CCM_SHA256']) {
    it(`TLS 1.3 ${suite}`, async () => {
      const { answer, said } = await session('readonly', ['-tls1_3', '-ciphersuites', suite]);
      expect(said)
        .to.include('Protocol version: TLSv1.3')
        .and.include(`Ciphersuite: ${suite}`)
        .and.include('Verification: OK');
      expect(answer.toString('hex')).to.equal(sunS);
    });
  }

  it('TLS 1.1 and other suites end in an alert', async () => {
    expect((await session('readonly', ['-tls1_1', '-cipher', 'DEFAULT:@SECLEVEL=0'])).said).to.match(
      /alert protocol version|no protocols available/,
    );
    expect((await session('readonly', ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES256-GCM-SHA384'])).said).to.match(
      /alert handshake failure/,
    );
  });

  it('a certificate that has expired or is of another CA gets no answer', async () => {
    for (const client of ['bad-expired', 'bad-foreign'])
      expect((await session(client, [])).answer, client).to.have.lengthOf(0);
  });
});

describeWith(['openssl', 'pysunspec2'], 'over TLS, as each role', () => {
  let pki: PkiOnDisk;
  let simulator: RunningSimulator;
  before(async () => {
    pki = new PkiOnDisk();
    simulator = await startSimulator(pki.flags);
  });
  after(async () => {
    expect(await simulator.stop()).to.equal(0);
    pki.remove();
  });

  const as = <T>(client: string, act: (master: PythonPeer) => Promise<T>) =>
    asMaster(simulator.modbusPort, pki.client(client), async (master) => {
      await master.ask('scan');
      return act(master);
    });
  const writePoint = (master: PythonPeer, model: number, path: string, value: number) =>
    master.exceptionOf('write_point', { model, path, value });

  it('ReadOnly scans and reads everything, and writes nothing', () =>
    as('readonly', async (master) => {
      expect(Object.keys(await master.ask('read', { model: 704 }))).to.include('WMaxLimPct');
      expect(await writePoint(master, 704, 'WMaxLimPct', 50)).to.equal(1);
      expect(await writePoint(master, 703, 'ES', 0)).to.equal(1);
      expect(await master.ask('read_point', { model: 704, path: 'WMaxLimPct' })).to.equal(100);
    }));

  it('GridService writes commanded and autonomous functions, and neither protection nor nominal values', () =>
    as('gridservice', async (master) => {
      await master.ask('write_model', { model: 704, values: { WMaxLimPctEna: 1, WMaxLimPct: 60 } });
      expect(await master.ask('read_point', { model: 704, path: 'WMaxLimPct' })).to.equal(60);
      expect(await writePoint(master, 707, 'Ena', 1)).to.equal(1);
      expect(await writePoint(master, 702, 'VNom', 480)).to.equal(1);
      await master.ask('write_model', { model: 704, values: { WMaxLimPctEna: 0, WMaxLimPct: 100 } });
    }));

  it('NetworkAdministrator writes none of these', () =>
    as('netadmin', async (master) => {
      expect(await writePoint(master, 704, 'WMaxLimPct', 50)).to.equal(1);
      expect(await writePoint(master, 707, 'Ena', 1)).to.equal(1);
    }));

  it('SuperAdministrator also writes protection; read-only points answer exception 2', () =>
    as('superadmin', async (master) => {
      expect(await writePoint(master, 707, 'Ena', 1)).to.equal(0);
      expect(await writePoint(master, 704, 'WMaxLimPct', 100)).to.equal(0);
      expect(await writePoint(master, 701, 'W', 1)).to.equal(2);
    }));

  for (const client of ['bad-no-role', 'bad-two-roles', 'bad-unknown-role', 'bad-encoding']) {
    it(`${client} comes to a session and gets exception 1`, async () => {
      expect((await scanFailure(simulator.modbusPort, pki.client(client)))?.message).to.match(refusedAtModel1);
    });
  }
  for (const client of ['bad-expired', 'bad-foreign']) {
    it(`${client} comes to none`, async () => {
      const failure = await scanFailure(simulator.modbusPort, pki.client(client));
      expect(failure).to.be.instanceOf(PeerError);
      expect(failure?.exception).to.equal(null);
    });
  }

  it('a connection without TLS gets no answer', async () => {
    expect(await scanFailure(simulator.modbusPort, [])).to.be.instanceOf(PeerError);
  });

  it('SIGHUP loads a new root certificate, but not a half-written one', async () => {
    const hup = async (expected: RegExp) => {
      const already = simulator.output.length;
      process.kill(simulator.pid, 'SIGHUP');
      while (!expected.test(simulator.output.slice(already)))
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    };
    const ca = readFileSync(pki.path('ca.pem'), 'utf8');
    writeFileSync(pki.path('ca.pem'), ca.slice(0, 300));
    await hup(/changed certificate files are not used/);
    writeFileSync(pki.path('next.pem'), ca + readFileSync(pki.path('foreign-ca.pem'), 'utf8'));
    renameSync(pki.path('next.pem'), pki.path('ca.pem'));
    await hup(/new certificate files are in force/);
    expect(await scanFailure(simulator.modbusPort, pki.client('bad-foreign'))).to.equal(null);
  });

  it('a start without its files ends with exit code 2, and names flag and file', () => {
    const [program, ...args] = programCommand;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const start = (...flags: string[]) =>
      spawnSync(program, [...args, ...flags], { cwd, encoding: 'utf8', timeout: 30_000 });
    const missing = start('-e', 'yes');
    expect(missing.status).to.equal(2);
    expect(missing.stderr).to.include('--mb_cert').and.include('--mb_key').and.include('--mb_root_cert');
    const wrong = start(...pki.flags.map((word) => (word.endsWith('server.key') ? pki.path('ca.key') : word)));
    expect(wrong.status).to.equal(2);
    expect(wrong.stderr).to.include(`-mbk: ${pki.path('ca.key')}: the key does not belong to the certificate`);
  });
});

/** Certificates that come with the tests of pysunspec2: made by others, with intermediate CAs. */
describeWith(['pysunspec2'], 'over TLS, with the certificates of its own tests', () => {
  let directory: string;
  let simulator: RunningSimulator;
  const path = (name: string) => join(directory, name);

  before(async function () {
    const { stdout } = spawnSync(python, ['-c', 'import sunspec2, os; print(os.path.dirname(sunspec2.__file__))'], {
      encoding: 'utf8',
    });
    directory = join(stdout.trim(), 'tests', 'tls_data');
    if (!existsSync(path('ca/client_ca_chain.crt')))
      skip(this, 'this version of pysunspec2 comes without certificates');
    simulator = await startSimulator([
      '-e',
      'yes',
      '-mbc',
      path('server/tls1_2/server_valid.crt'),
      '-mbk',
      path('server/tls1_2/server_valid.key'),
      '-mbr',
      path('ca/client_ca_chain.crt'),
    ]);
  });
  after(async () => {
    if ((simulator as RunningSimulator | undefined) !== undefined) expect(await simulator.stop()).to.equal(0);
  });

  const files = (client: string) => [
    path('ca/server_ca_chain.crt'),
    path(`client/${client}.crt`),
    path(`client/${client}.key`),
  ];

  it('scans as each role', async () => {
    const names = ['client_readonly', 'client_gridservice', 'client_netadmin', 'client_superadmin'];
    expect(names).to.have.lengthOf(roles.length);
    for (const name of names) {
      for (const version of ['tls1_2', 'tls1_3'])
        expect(await scanFailure(simulator.modbusPort, files(`${version}/${name}`)), name).to.equal(null);
    }
  });

  it('is answered exception 1 without a role and with one in another encoding', async () => {
    for (const name of ['client_no_role', 'client_malformed_role']) {
      expect((await scanFailure(simulator.modbusPort, files(`invalid/${name}`)))?.message, name).to.match(
        refusedAtModel1,
      );
    }
  });

  it('gets no session with a certificate that is self-signed, foreign or expired', async () => {
    for (const name of ['client_self_signed', 'client_foreign_ca', 'client_expired']) {
      expect((await scanFailure(simulator.modbusPort, files(`invalid/${name}`)))?.exception, name).to.equal(null);
    }
  });
});
