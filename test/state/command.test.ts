import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stateCommand } from '../../src/state/command.ts';
import { replaceContents } from '../../src/state/contents.ts';
import type { Contents } from '../../src/state/contents.ts';
import { openFolder } from '../../src/state/files.ts';
import { readState, withFolderToRead } from '../../src/state/folder-work.ts';
import { journalFile } from '../../src/state/journal.ts';
import { ownersSlot } from '../../src/state/slots.ts';
import { snapshotFolder, Snapshots } from '../../src/state/snapshots.ts';
import { formatVersion } from '../../src/state/record.ts';
import { skip } from '../support/skip.ts';

const nowMs = Date.parse('2026-06-21T12:00:00Z');

const lab: Contents = new Map([
  [ownersSlot, ['{"device":0,"slots":["ocpp/CP-1"]}']],
  ['plant/shared/site', ['7', '8']],
  ['plant/device/0/x', ['1']],
  ['plant/device/1/x', ['22']],
  ['ocpp/CP-1/station/line', ['{"password":"61"}']],
]);

describe('derbench state', () => {
  let root = '';
  let [out, errors] = ['', ''];
  const at = (name: string) => join(root, name);
  const folder = () => at('state');
  const contents = () => Object.fromEntries(readState(openFolder(folder())).contents);

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'derbench-state-'));
    await replaceContents(openFolder(folder()), lab);
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  async function run(...words: readonly string[]): Promise<number> {
    [out, errors] = ['', ''];
    return stateCommand(words, {
      out: (text) => {
        out += text;
        return Promise.resolve();
      },
      error: (line) => {
        errors += `${line}\n`;
      },
      nowMs: () => nowMs,
      version: '1.2.3',
    });
  }

  /** Takes the folder as a running process does: this one. */
  const lock = () => {
    const [, fields = ''] = /\)\s+(.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const started = `${boot}/${fields.split(' ')[19] ?? ''}`;
    writeFileSync(join(folder(), 'lock'), JSON.stringify({ pid: process.pid, host: hostname(), started }));
  };

  it('shows sizes by part of the simulator, and snapshots', async () => {
    await new Snapshots({ folder: openFolder(join(folder(), snapshotFolder)), version: '1', nowMs: () => nowMs }).take(
      'x',
      lab,
    );
    expect(await run('show', folder())).to.equal(0);
    expect(out).to.match(/^\S+: form 2, \d+ octets, 6 records, last write 2\d{3}-\S+Z\nin use by no simulator\n/);
    expect(out).to.match(/\ndevices +2 +2 +3\nocpp +1 +1 +17\nsite +1 +2 +2\nstate +1 +1 +\d+\n/);
    expect(out).to.match(/\nx +\d+ +2026-06-21T12:00:00.000Z\n/);
    expect(await run('show', folder(), '--json', '--device', '0')).to.equal(0);
    expect(JSON.parse(out)).to.deep.include({
      format: formatVersion,
      device: 0,
      damage: null,
      in_use_by: null,
      areas: [
        { area: 'devices', slots: 1, entries: 1, octets: 1 },
        { area: 'ocpp', slots: 1, entries: 1, octets: 17 },
        { area: 'state', slots: 1, entries: 1, octets: 34 },
      ],
    });
  });

  it('shows a folder beside the simulator that has it, and refuses everything else with its process number', async function () {
    if (!existsSync('/proc/self/stat')) skip(this, 'this machine has no /proc');
    lock();
    expect(await run('show', folder())).to.equal(0);
    expect(out).to.include(`in use by process ${process.pid}`);
    const document = at('lab.json');
    writeFileSync(document, '{"derbench_state":1,"slots":{}}');
    for (const words of [
      ['export', folder()],
      ['import', folder(), document],
      ['reset', folder(), '--yes'],
    ]) {
      expect(await run(...words), words[0]).to.equal(2);
      expect(errors, words[0]).to.include(`process ${process.pid}`);
      expect(out).to.equal('');
    }
    expect(contents()).to.deep.equal(Object.fromEntries(lab));
  });

  it('exports to a file that its owner alone can read, and imports it elsewhere', async () => {
    const document = at('lab.json');
    writeFileSync(document, 'old', { mode: 0o644 });
    expect(await run('export', folder(), '--output', document, '--with-secrets')).to.equal(0);
    if (process.platform !== 'win32') expect(statSync(document).mode & 0o777).to.equal(0o600);
    expect(readdirSync(root).sort()).to.deep.equal(['lab.json', 'state']);
    expect(await run('import', at('copy'), document)).to.equal(0);
    expect(Object.fromEntries(readState(openFolder(at('copy'))).contents)).to.deep.equal(Object.fromEntries(lab));
  });

  it('answers 1 for an output that takes no octets, and 2 for one that cannot be opened', async function () {
    if (!existsSync('/dev/full')) skip(this, 'this machine has no /dev/full');
    expect(await run('export', folder(), '--output', '/dev/full')).to.equal(1);
    expect(errors).to.include('/dev/full cannot be written: no space left on device');
    expect(await run('export', folder(), '--output', at('none/lab.json'))).to.equal(2);
    expect(errors).to.include('none/lab.json cannot be written');
  });

  it('reads a folder without a lock where nobody can write, and only there', () => {
    const refuse = (code: string) => () => {
      throw Object.assign(new Error(code), { code });
    };
    const read = (code: string) => withFolderToRead(folder(), (from) => readState(from).contents.size, refuse(code));
    expect(read('EROFS')).to.equal(lab.size);
    expect(() => read('EACCES')).to.throw('EACCES');
  });

  it('leaves secrets out and says so, and says at the import what is missing', async () => {
    expect(await run('export', folder())).to.equal(0);
    expect(out).not.to.include('password');
    expect(errors).to.include('1 slot').and.to.include('--with_secrets');
    const document = at('lab.json');
    writeFileSync(document, out);
    expect(await run('import', folder(), document)).to.equal(0);
    expect(errors).to.include('no passwords and keys of 1 slot');
    expect(contents()['ocpp/CP-1/station/line']).to.deep.equal(['{}']);
  });

  it('handles one device', async () => {
    const document = at('device.json');
    expect(await run('export', folder(), '--device=0', '--output', document, '--with_secrets')).to.equal(0);
    expect(await run('reset', folder(), '--device', '0', '--yes')).to.equal(0);
    expect(Object.keys(contents())).to.have.members(['plant/shared/site', 'plant/device/1/x', ownersSlot]);
    expect(await run('import', folder(), document, '--device', '1')).to.equal(2);
    expect(errors).to.include('--device: given 1').and.to.include('device 0');
    expect(await run('import', folder(), document)).to.equal(0);
    expect(contents()).to.deep.equal(Object.fromEntries(lab));
    expect(await run('reset', folder(), '--device', '4', '--yes')).to.equal(2);
    expect(errors).to.include('device 4').and.to.include('0, 1');
  });

  it('a device that a client has added is gone after its reset, and cannot be imported any more', async () => {
    const joined = [
      { index: 1, entry: { device_type: 'PV-3Phase' } },
      { index: 2, entry: {} },
    ];
    const changes = new Map([...lab, ['plant/shared/changes', [JSON.stringify({ joined, left: [4] })]]]);
    await replaceContents(openFolder(folder()), changes);
    const document = at('device.json');
    expect(await run('export', folder(), '--device=1', '--output', document)).to.equal(0);
    expect(await run('reset', folder(), '--device', '1', '--yes')).to.equal(0);
    const left = contents();
    expect(left['plant/shared/changes']).to.deep.equal([JSON.stringify({ joined: joined.slice(1), left: [4] })]);
    expect(left).not.to.have.property('plant/device/1/x');
    expect(await run('import', folder(), document)).to.equal(2);
    expect(errors).to.include('there is no state of device 1; there is state of 0');
    expect(contents()).to.deep.equal(left);
    expect(await run('import', at('new'), document)).to.equal(2);
    expect(existsSync(at('new'))).to.equal(false);
  });

  it('resets only what is confirmed, and leaves snapshots', async () => {
    mkdirSync(join(folder(), snapshotFolder));
    writeFileSync(join(folder(), snapshotFolder, 'x.json'), '{}');
    expect(await run('reset', folder())).to.equal(2);
    expect(errors).to.include('--yes');
    expect(contents()).to.deep.equal(Object.fromEntries(lab));
    expect(await run('reset', folder(), '--yes')).to.equal(0);
    expect(contents()).to.deep.equal({});
    expect(existsSync(join(folder(), snapshotFolder, 'x.json'))).to.equal(true);
  });

  it('imports nothing of a document with an error, and lists the errors', async () => {
    const document = at('lab.json');
    writeFileSync(document, '{"derbench_state":1,"slots":{"a":[1],"../b":[2],"c":3}}');
    expect(await run('import', folder(), document)).to.equal(2);
    expect(errors).to.include('/slots/"../b"').and.to.include('/slots/"c"').and.to.include(document);
    expect(contents()).to.deep.equal(Object.fromEntries(lab));
  });

  it('keeps a copy of a damaged journal before it replaces it', async () => {
    const path = join(folder(), journalFile);
    const octets = readFileSync(path);
    octets[octets.length - 40] = (octets[octets.length - 40] ?? 0) ^ 1;
    octets[120] = (octets[120] ?? 0) ^ 1;
    writeFileSync(path, octets);
    expect(await run('show', folder())).to.equal(0);
    expect(out).to.include('the journal is damaged');
    expect(await run('reset', folder(), '--yes')).to.equal(0);
    const copy = readdirSync(folder()).find((name) => name.includes('.corrupt-'));
    expect(readFileSync(join(folder(), copy ?? ''))).to.deep.equal(octets);
  });

  it('shows a folder whose snapshots are a file as one without any', async () => {
    writeFileSync(join(folder(), snapshotFolder), 'x');
    expect(await run('show', folder())).to.equal(0);
    expect(out).to.include('devices').and.not.to.include('snapshot');
  });

  it('refuses a folder of a newer version, one that there is not, and a file in its place', async () => {
    expect(await run('show', at('nowhere'))).to.equal(2);
    expect(errors).to.include('there is no such folder');
    expect(existsSync(at('nowhere'))).to.equal(false);
    writeFileSync(at('file'), '');
    for (const words of [
      ['show', at('file')],
      ['export', at('file')],
      ['reset', at('file'), '--yes'],
    ]) {
      expect(await run(...words)).to.equal(2);
      expect(errors).to.include('is no folder');
    }
  });

  const wrongUses: readonly (readonly [words: readonly string[], part: string])[] = [
    [[], 'the first word: given nothing; allowed: show, export, import, reset'],
    [['shwo', 'x'], 'did you mean show'],
    [['show'], 'DIR is missing'],
    [['import', 'x'], 'FILE is missing'],
    [['show', 'x', 'y'], '"y" is one word too many'],
    [['show', 'x', '--yes'], '--yes is no flag of derbench state show'],
    [['export', 'x', '--device', 'two'], '--device: given "two"'],
    [['export', 'x', '--device'], '--device'],
    [['show', 'x', '--jsonn'], "'--jsonn'"],
  ];
  for (const [words, part] of wrongUses)
    it(`refuses ${JSON.stringify(words)}`, async () => {
      expect(await run(...words)).to.equal(2);
      expect(errors).to.include(part).and.to.include('--help');
    });

  it('explains itself', async () => {
    expect(await run('--help')).to.equal(0);
    expect(out).to.include('Usage: derbench state show DIR');
  });
});
