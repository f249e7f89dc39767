import { expect } from 'chai';
import { SimError } from '../../../../src/core/errors.ts';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import { settled } from '../fakes.ts';
import { accepted, content, firmwareOn } from './firmware-rig.ts';
import { expectFits, upkeepRig } from './rig.ts';

const unsigned = 'FirmwareStatusNotification';
const signedAction = 'SignedFirmwareStatusNotification';

describe('OCPP 1.6 UpdateFirmware (4.5, 5.19)', () => {
  it('Downloading, Downloaded, Installing, restart with the new version, Installed', async () => {
    const s = await accepted();
    expect(s.part.version).to.equal('1.0');
    await s.update();
    expect(s.downloads.map(({ location }) => location)).to.deep.equal(['http://files.test/fw.bin']);
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading']);
    await s.deliver(content);
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'Downloaded', 'Installing']);
    await s.pass(10);
    expect([s.part.version, s.connection.done]).to.deep.equal(['1.0', []]);
    await s.pass(1);
    expect([s.part.version, s.connection.done]).to.deep.equal(['2.0.0', ['restart: firmware update']]);
    expect(s.transactions.stopped).to.deep.equal(['Reboot']);
    await s.accept();
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'Downloaded', 'Installing', 'Installed']);
    expect(s.events).to.deep.equal([['FirmwareUpdated', '2.0.0']]);
    expect(s.told(signedAction)).to.deep.equal([]);
  });

  it('the answer goes first: nothing begins before it', async () => {
    const s = await accepted();
    const request = { location: 'http://files.test/fw.bin', retrieveDate: s.inS(0) };
    await s.part.handlers.UpdateFirmware?.(request, s.after);
    await settled();
    expect([s.downloads.length, s.line.calls.length]).to.deep.equal([0, 0]);
    await s.answered();
    expect([s.downloads.length, s.line.calls.length]).to.deep.equal([1, 1]);
  });

  it('waits for retrieveDate on the clock of the central system, and reports nothing meanwhile', async () => {
    const s = await accepted();
    s.clock.sync(s.clock.nowMs() + 3_600_000, s.wall.monotonicMs());
    await s.update({ retrieveDate: s.inS(100) });
    await s.pass(99);
    expect([s.downloads.length, s.told(unsigned).length]).to.deep.equal([0, 0]);
    s.part.report(false);
    expect(s.statuses(unsigned)).to.deep.equal(['Idle']);
    await s.pass(1);
    expect(s.downloads).to.have.lengthOf(1);
    expect(s.statuses(unsigned)).to.deep.equal(['Idle', 'Downloading']);
  });

  it('retries and retryInterval, then DownloadFailed once', async () => {
    const s = await accepted();
    await s.update({ retries: 2, retryInterval: 40 });
    await s.fail();
    await s.pass(39);
    expect(s.downloads).to.have.lengthOf(0);
    await s.pass(1);
    await s.fail('permission');
    await s.pass(40);
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading']);
    await s.fail();
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'DownloadFailed']);
    await s.pass(1000);
    expect([s.downloads.length, s.timers.waiting]).to.deep.equal([0, 0]);
  });

  it('a location that cannot be used fails without retries', async () => {
    const s = await accepted();
    await s.update({ retries: 5, location: 'http://169.254.169.254/fw' });
    await s.fail('bad_location');
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'DownloadFailed']);
  });

  it('a second attempt starts the file anew', async () => {
    const s = await accepted();
    await s.update({ retries: 1, retryInterval: 1 });
    s.downloads[0]?.chunk(Buffer.from('derbench-firmware 9.9.9\n'));
    await s.fail();
    await s.pass(1);
    await s.deliver(content);
    await s.pass(11);
    expect(s.part.version).to.equal('2.0.0');
  });

  const failures: readonly (readonly [string, string, readonly string[]])[] = [
    ['an empty file', '', []],
    ['a damaged file', 'derbench-firmware 2.0.0 damaged\n', []],
    ['a file whose installation fails', 'derbench-firmware 2.0.0 fails\n', ['Installing']],
  ];
  for (const [name, text, more] of failures)
    it(`InstallationFailed for ${name}; version and connectors stay`, async () => {
      const s = await accepted();
      await s.update();
      await s.deliver(text);
      await s.pass(100);
      expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'Downloaded', ...more, 'InstallationFailed']);
      expect([s.part.version, s.operative(), s.connection.done]).to.deep.equal(['1.0', [true, true], []]);
    });

  it('the version is that of the header, of the file name, or the old one with a count', async () => {
    const s = await accepted();
    const versions: string[] = [];
    for (const [text, name] of [
      ['octets', 'evse-2.4.1.bin'],
      ['octets', 'fw.bin'],
      ['octets', 'fw.bin'],
    ] as const) {
      await s.update();
      await s.deliver(text, name);
      await s.pass(11);
      await s.accept();
      versions.push(s.part.version);
    }
    expect(versions).to.deep.equal(['2.4.1', '2.4.1+1', '2.4.1+2']);
  });

  it('connectors are out of operation while it is installed, and back after it', async () => {
    const s = await accepted();
    s.central.connectors.add(2);
    s.device.port.command({ kind: 'evse.availability', connectorId: 2, operative: false });
    await s.update();
    expect(s.operative()).to.deep.equal([true, false]);
    await s.deliver(content);
    expect(s.operative()).to.deep.equal([false, false]);
    await s.pass(11);
    expect(s.operative()).to.deep.equal([true, false]);
  });

  it('what the central system sets inoperative meanwhile stays so', async () => {
    const s = await accepted();
    await s.update();
    await s.deliver(content);
    s.central.connectors.add(1);
    await s.pass(11);
    expect(s.operative()).to.deep.equal([false, true]);
  });

  it('what the central system sets operative meanwhile waits for the end', async () => {
    const s = await accepted();
    s.central.connectors.add(1);
    s.device.port.command({ kind: 'evse.availability', connectorId: 1, operative: false });
    await s.update();
    await s.deliver(content);
    for (const connectorId of [1, 2]) {
      s.central.connectors.delete(connectorId);
      s.device.port.command({ kind: 'evse.availability', connectorId, operative: true });
    }
    expect(s.operative()).to.deep.equal([false, false]);
    await s.pass(11);
    expect(s.operative()).to.deep.equal([true, true]);
    expect(s.device.listening).to.equal(0);
  });

  it('a running transaction ends first; its connector takes no other one', async () => {
    const s = await accepted();
    s.transactions.begin(1);
    s.transactions.begin(2);
    await s.update();
    await s.deliver(content);
    expect([s.operative(), s.statuses(unsigned)]).to.deep.equal([
      [true, true],
      ['Downloading', 'Downloaded'],
    ]);
    s.transactions.end(2);
    await settled();
    expect([s.operative(), s.statuses(unsigned).length]).to.deep.equal([[true, false], 2]);
    s.transactions.end(1);
    await settled();
    expect([s.operative(), s.statuses(unsigned).at(-1)]).to.deep.equal([[false, false], 'Installing']);
  });

  it('a newer one takes the place of the one before, which has failed', async () => {
    const s = await accepted();
    await s.update();
    await s.update({ location: 'http://files.test/other.bin' });
    expect(s.downloads.map(({ location }) => location)).to.deep.equal(['http://files.test/other.bin']);
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'DownloadFailed', 'Downloading']);
    s.transactions.begin(1);
    await s.deliver(content);
    expect(s.operative()).to.deep.equal([true, false]);
    await s.update({ retrieveDate: s.inS(1000) });
    expect(s.statuses(unsigned).slice(3)).to.deep.equal(['Downloaded', 'InstallationFailed']);
    expect(s.operative()).to.deep.equal([true, true]);
    // one that only waits has reported nothing, and neither does its end
    await s.update();
    expect(s.statuses(unsigned).slice(5)).to.deep.equal(['Downloading']);
  });

  it('an installation is not interrupted', async () => {
    const s = await accepted();
    await s.update();
    await s.deliver(content);
    let refused: unknown = null;
    await s.update().catch((error: unknown) => {
      refused = error;
    });
    expect(refused).to.be.instanceOf(CallError).with.property('code', 'GenericError');
    await s.pass(11);
    await s.accept();
    expect(s.statuses(unsigned).at(-1)).to.equal('Installed');
  });

  it('reports wait for the next connection, and are sent in order', async () => {
    const s = await accepted();
    await s.update();
    s.lose();
    await s.deliver(content);
    await s.pass(5);
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading']);
    await s.accept();
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'Downloaded', 'Installing']);
  });

  it('a new connection before the restart is none after it', async () => {
    const s = await accepted();
    await s.update();
    await s.deliver(content);
    await s.pass(10.5);
    s.lose();
    await s.accept();
    expect(s.statuses(unsigned).at(-1)).to.equal('Installing');
    await s.pass(1);
    await s.accept();
    expect(s.statuses(unsigned).filter((each) => each === 'Installed')).to.have.lengthOf(1);
  });

  it('a trigger tells the step under way, Idle otherwise (5.17)', async () => {
    const s = await accepted();
    const now = (signed: boolean) => {
      s.part.report(signed);
      const { action, payload, options } = s.line.calls.at(-1) ?? { action: '', payload: {}, options: {} };
      expectFits(action, 'request', payload);
      expect(options).to.not.have.property('urgent');
      return `${action} ${String(payload.status)}`;
    };
    expect([now(false), now(true)]).to.deep.equal([`${unsigned} Idle`, `${signedAction} Idle`]);
    await s.update();
    expect([now(false), now(true)]).to.deep.equal([`${unsigned} Downloading`, `${unsigned} Downloading`]);
    await s.deliver(content);
    expect(now(false)).to.equal(`${unsigned} Installing`);
    await s.pass(11);
    expect(now(false)).to.equal(`${unsigned} Installing`);
    await s.accept();
    expect(now(false)).to.equal(`${unsigned} Idle`);
  });

  it('over a restart of the process: the version, and Installed after it', async () => {
    const s = await accepted();
    await s.update();
    await s.deliver(content);
    await s.pass(11);
    s.part.stop?.();
    await settled();
    const again = await firmwareOn({ before: s });
    expect(again.part.version).to.equal('2.0.0');
    await again.accept();
    expect(again.statuses(unsigned)).to.deep.equal(['Installed']);
    const third = await firmwareOn({ before: again });
    await third.accept();
    expect([third.part.version, third.told(unsigned)]).to.deep.equal(['2.0.0', []]);
  });

  it('over a restart of the process: an update that waits, or was not installed yet, begins again', async () => {
    const s = await accepted();
    await s.update({ retrieveDate: s.inS(500) });
    s.part.stop?.();
    const again = await accepted({ before: s });
    await again.pass(499);
    expect(again.downloads).to.have.lengthOf(0);
    await again.pass(1);
    await again.deliver(content);
    await again.pass(5);
    again.part.stop?.();
    expect(again.operative()).to.deep.equal([true, true]);
    const third = await accepted({ before: again });
    expect(third.downloads.map(({ location }) => location)).to.deep.equal(['http://files.test/fw.bin']);
    await third.fail('too_large');
    const fourth = await accepted({ before: third });
    expect(fourth.downloads).to.deep.equal([]);
  });

  for (const [name, kept] of [
    ['nothing of use', [3]],
    ['members of other kinds', [{ requestId: 'x', restarting: 'yes', update: { action: 'Reset' } }]],
    ['an update that breaks its schema', [{ requestId: null, update: { action: 'UpdateFirmware', request: {} } }]],
  ] as const)
    it(`a store with ${name} is as an empty one`, async () => {
      const before = upkeepRig();
      await before.store.slot('firmware').replace(kept);
      await before.store.slot('firmware-version').replace([1]);
      const s = await accepted({ before });
      expect([s.part.version, s.downloads, s.line.calls]).to.deep.equal(['1.0', [], []]);
    });

  it('a device that refuses commands keeps its states; the update goes on', async () => {
    const s = await accepted();
    await s.update();
    s.device.fail = new SimError('COMMAND_CONFLICT', 'no');
    // each of them, taken and given back
    await s.deliver(content);
    await s.pass(11);
    expect(s.part.version).to.equal('2.0.0');
    expect(s.logged.filter((line) => line.includes('keeps its availability'))).to.have.lengthOf(4);
  });

  it('sessions that cannot be ended go on over the restart', async () => {
    const s = await accepted();
    s.transactions.part.stopAll = () => {
      throw new SimError('COMMAND_CONFLICT', 'no');
    };
    await s.update();
    await s.deliver(content);
    await s.pass(11);
    expect(s.connection.done).to.deep.equal(['restart: firmware update']);
    expect(s.logged).to.include('a session continues over the restart: no');
  });

  it('an error of the station itself ends the installation', async () => {
    const s = await accepted();
    s.transactions.part.onEnded = () => {
      throw new Error('broken part');
    };
    s.transactions.begin(1);
    await s.update();
    await s.deliver(content);
    expect(s.logged).to.include('the firmware update has failed: broken part');
    expect(s.statuses(unsigned)).to.deep.equal(['Downloading', 'Downloaded', 'InstallationFailed']);
    expect(s.operative()).to.deep.equal([true, true]);
    await s.update();
    expect(s.downloads).to.have.lengthOf(1);
  });

  it('no user, password or query of the location is logged', async () => {
    const s = await accepted();
    await s.update({ location: 'http://u:S3CR3T-marker@files.test/fw.bin?k=S3CR3T-marker' });
    expect(s.logged.join('\n')).to.include('http://files.test/fw.bin').and.not.include('S3CR3T');
  });
});
