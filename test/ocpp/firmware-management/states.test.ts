import { expect } from 'chai';
import fc from 'fast-check';
import { firmwareFileOf, nextVersion } from '../../../src/ocpp/firmware-management/updater.ts';
import {
  firmwareEvents,
  firmwarePhases,
  firmwareStep,
  firmwareSteps,
  fullFirmwareStatus,
  plainFirmwareStatus,
} from '../../../src/ocpp/firmware-management/states.ts';
import { expectFits } from '../v16/firmware-management/rig.ts';
import { holds } from '../../support/property.ts';

describe('OCPP states of a firmware update (1.6 4.5; white paper and 2.x, L01)', () => {
  it('every status that a step or a trigger reports fits its schema', () => {
    const plain = [...firmwareSteps.map((step) => step.plain), ...firmwarePhases.map(plainFirmwareStatus)];
    const full = [...firmwareSteps.map((step) => step.full), ...firmwarePhases.map(fullFirmwareStatus)];
    for (const status of plain) if (status !== null) expectFits('FirmwareStatusNotification', 'request', { status });
    for (const status of full)
      if (status !== null) expectFits('SignedFirmwareStatusNotification', 'request', { status, requestId: 1 });
    expect(new Set(plain.filter((each) => each !== null)).size).to.equal(7);
    expect(new Set(full.filter((each) => each !== null)).size).to.equal(14);
  });

  it('one step for a phase and an event, and none that nothing leads to', () => {
    expect(new Set(firmwareSteps.map(({ from, event }) => `${from} ${event}`)).size).to.equal(firmwareSteps.length);
    expect(new Set(firmwareSteps.map(({ to }) => to))).to.deep.equal(new Set(firmwarePhases));
    expect(new Set(firmwareSteps.map(({ event }) => event))).to.deep.equal(new Set(firmwareEvents));
    expect(firmwareStep('idle', 'installed')).to.equal(null);
  });

  it('whatever happens, an installation is not cancelled, and Installed follows a restart', () => {
    holds(
      'installation is not cancelled',
      fc.array(fc.constantFrom(...firmwareEvents), { maxLength: 60 }),
      (events) => {
        let phase: (typeof firmwarePhases)[number] = 'idle';
        for (const event of events) {
          const step = firmwareStep(phase, event);
          if (step === null) continue;
          if (step.full === 'Installed') expect(phase).to.equal('rebooting');
          if (event === 'cancel') expect(['installing', 'rebooting']).to.not.include(phase);
          phase = step.to;
        }
      },
    );
  });
});

describe('OCPP firmware files', () => {
  const rows: readonly (readonly [name: string, text: string, version: string | null, mark?: 'damaged' | 'fails'])[] = [
    ['fw.bin', 'derbench-firmware 2.0.0\nx', '2.0.0'],
    ['fw.bin', 'derbench-firmware 2.0.0', '2.0.0'],
    ['fw.bin', 'derbench-firmware\t2.0.0-rc.1 \r\n', '2.0.0-rc.1'],
    ['fw.bin', 'derbench-firmware 2 fails\n', '2', 'fails'],
    ['fw-1.2.bin', 'derbench-firmware 2.0.0 damaged\n', '2.0.0', 'damaged'],
    ['fw-1.2.bin', 'derbench-firmware 2.0.0 other\n', '1.2'],
    ['fw-1.2.bin', 'octets', '1.2'],
    ['evse-2.4.1-rc.1.tar.gz', 'octets', '2.4.1-rc.1'],
    ['fw7.bin', 'octets', null],
    ['', 'octets', null],
    ['fw-1.2.bin', '', '1.2', 'damaged'],
    ['fw.bin', `derbench-firmware ${'9'.repeat(51)}\n`, null],
    [`fw-${'1.'.repeat(40)}1.bin`, 'octets', '1.'.repeat(25)],
  ];
  for (const [name, text, version, mark] of rows)
    it(`${name === '' ? 'no name' : name.slice(0, 30)} with ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(firmwareFileOf(name, Buffer.from(text), text.length)).to.deep.equal({
        version,
        damaged: mark === 'damaged',
        fails: mark === 'fails',
      });
    });

  it('versions count on, within 50 characters', () => {
    expect([nextVersion('1.2.0'), nextVersion('1.2.0+1'), nextVersion('1.2.0+9'), nextVersion('')]).to.deep.equal([
      '1.2.0+1',
      '1.2.0+2',
      '1.2.0+10',
      '+1',
    ]);
    expect(nextVersion('x'.repeat(50))).to.equal(`${'x'.repeat(48)}+1`);
  });
});
