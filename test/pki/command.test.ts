import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isHost } from '../../src/core/net/host-name.ts';
import { pkiCommand } from '../../src/pki/command.ts';

const nowMs = Date.parse('2026-12-01T08:40:32Z');

describe('derbench pki', () => {
  let root = '';
  let [out, errors]: [string[], string[]] = [[], []];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-pki-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  function run(...words: readonly string[]): Promise<number> {
    [out, errors] = [[], []];
    return pkiCommand(words, {
      out: (line) => void out.push(line),
      error: (line) => void errors.push(line),
      nowMs: () => nowMs,
    });
  }
  const texts = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

  it('writes certificates and keys that only their owner can read, and lists them with the names of the server', async () => {
    const folder = join(root, 'deep', 'pki');
    expect(await run(folder, '--devices', '2', '--host', 'utility.example', '--host=192.0.2.1')).to.equal(0);
    const names = readdirSync(folder);
    expect(names.filter((name) => name.endsWith('.pem'))).to.have.lengthOf(15);
    expect(names.filter((name) => name.endsWith('.key'))).to.have.lengthOf(15);
    expect(names.filter((name) => /\.new$|^mica_/.test(name))).to.deep.equal([]);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o600);
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
    expect(out.join('\n'))
      .to.match(/^device1\.pem +a device/m)
      .and.contain('DNS:utility.example, IP Address:192.0.2.1')
      .and.not.contain('mica_usage');
    expect(out.at(-1)).to.equal(`in ${folder}`);
  });

  it('keeps what is in the folder, and adds devices', async () => {
    await run(root);
    const before = texts(root);
    expect(await run(root, '--devices', '2')).to.equal(0);
    const { 'device1.pem': pem = '', 'device1.key': key = '', ...rest } = texts(root);
    expect(rest).to.deep.equal(before);
    expect(pem + key).to.contain('PRIVATE KEY');
  });

  it('an issuer without its key is named', async () => {
    await run(root);
    rmSync(join(root, 'mica.key'));
    expect(await run(root, '--devices', '2')).to.equal(2);
    expect(errors).to.deep.equal(['derbench pki: mica has no key, so it cannot issue device1']);
  });

  it('--modbus writes CA, server and clients', async () => {
    expect(await run(root, '--modbus')).to.equal(0);
    expect(readdirSync(root).filter((name) => name.endsWith('.pem'))).to.have.lengthOf(13);
    expect(out[0]).to.match(/^ca\.pem +root CA/);
  });

  it('refuses wrong arguments with exit code 2, and writes nothing', async () => {
    const folder = join(root, 'none');
    for (const [words, text] of [
      [['--devices', 'many'], 'given "many"; allowed: 0 to 10000'],
      [['--devices', '10001'], 'allowed: 0 to 10000'],
      [['--host', 'a b'], 'allowed: a DNS name or an IP address'],
      [['--modbus', '--devices', '2'], '--devices is no flag of --modbus'],
      [['other'], '"other" is one word too many'],
      [['--hosts', 'x'], "Unknown option '--hosts'"],
    ] as const) {
      expect(await run(folder, ...words), words.join(' ')).to.equal(2);
      expect(errors.join(), words.join(' ')).to.contain(text);
    }
    expect(readdirSync(root)).to.deep.equal([]);
    expect(await run('--help')).to.equal(0);
    expect(out.join()).to.contain('Usage: derbench pki');
  });

  it('a folder that cannot be made ends with exit code 2', async () => {
    await run(join(root, 'pki'));
    expect(await run(join(root, 'pki', 'root.pem', 'x'))).to.equal(2);
    expect(errors[0]).to.match(/^derbench pki: /);
  });

  it('names of hosts', () => {
    for (const host of ['localhost', 'a-b.example', '*.example.org', '10.0.0.5', '::1', 'fe80::1'])
      expect(isHost(host), host).to.equal(true);
    for (const host of [
      '',
      'a b',
      '-a.example',
      'a..b',
      'a:8443',
      '10.0.0',
      '999.1.1.1',
      'a,DNS:b',
      'fe80::1%eth0',
      'ü.example',
    ])
      expect(isHost(host), host).to.equal(false);
  });
});
