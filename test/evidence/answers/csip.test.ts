import { expect } from 'chai';
import { csipAnswers } from '../../../src/evidence/answers/csip.ts';
import { judged } from '../../../src/evidence/answers/judge.ts';
import type { AnswerSources } from '../../../src/evidence/sources.ts';
import type { CsipClient, CsipControl } from '../../../src/contract/csip-client.ts';
import { modeTable, showModes } from '../../../src/csip/control/modes.ts';
import type { ModeName, ResolvedControl } from '../../../src/csip/control/model.ts';
import type { Revision } from '../../../src/csip/xml/schema.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { apply, control, curve, event, point, target } from '../../support/csip-controls.ts';
import { baseOf, curves } from '../../support/csip-mode-values.ts';
import { testPlant } from '../../support/plant.ts';

const mrid = '0A';
type Bridge = ReturnType<typeof target>;

/** Judges what the client has answered to an event that is in force: response 2. */
function answersTo(plant: SimPlant, bridge: Bridge, of: ResolvedControl) {
  const device = plant.device(0);
  const wallMs = Date.now() + 1000;
  const response = { id: 1, atMs: wallMs, at: plant.time.sim, peer: 'server', deviceIndex: 0, mrid, status: 2 };
  const shown = { mrid, deviceIndices: [0], state: 'active', leftOut: [], optedOut: false, modes: showModes(of) };
  const csipClient: Partial<CsipClient> = {
    controls: () => [shown as unknown as CsipControl],
    claims: () => [...bridge.claims(mrid, of, 0)].map(([mode, values]) => ({ mode: modeTable[mode].rest, values })),
    messages: { responses: () => [response] } as unknown as CsipClient['messages'],
  };
  const answered = csipAnswers({ csipClient } as AnswerSources, device, 0);
  return judged(answered, {
    deviceIndex: 0,
    faults: { active: [], ended: [] },
    dateMs: () => wallMs,
    hindrance: null,
  });
}

/** A device with an event in force. */
async function inForce(type: string, revision: Revision, of: ResolvedControl, chargeMaxW?: number) {
  const plant = testPlant({ types: [type], ...(chargeMaxW && { models: { 702: { WChaRteMax: chargeMaxW } } }) });
  await plant.step(1);
  const bridge = target(plant, 0, revision);
  const [outcome] = apply(bridge, event(mrid, of));
  return { plant, bridge, outcome, device: plant.device(0) };
}

const words = (found: ReturnType<typeof answersTo>) =>
  found.filter(({ done }) => done !== true).map(({ claim, cause, explanation }) => [claim.name, cause, explanation]);

describe('answers of a client of IEEE 2030.5: what it has written is what it claims', () => {
  for (const type of ['PV-3Phase', 'Batt-3Phase'])
    for (const revision of ['2018', '2023'] as const)
      it(`${type}, revision ${revision}: every mode that is in force is done`, async () => {
        const modes: readonly ModeName[] = [...target(testPlant({ types: [type] }), 0, revision).supported];
        let count = 0;
        for (const mode of modes) {
          const of = control(baseOf([mode]), curves);
          const { plant, bridge, outcome } = await inForce(type, revision, of);
          if (outcome?.state !== 'applied') continue;
          const found = answersTo(plant, bridge, of).filter(({ cause }) => cause !== 'unknown');
          count += found.length;
          expect(words(found), mode).to.deep.equal([]);
        }
        expect(count).to.be.greaterThan(60);
      });

  it('a watt-var curve of 2023 refers to the charge rating below zero, and is done', async () => {
    const points = [
      [-100, 30],
      [0, 0],
      [100, -30],
    ] as const;
    const of = control({ opModWattVar: { href: '/wv' } }, { '/wv': curve(14, points, { yRefType: 2 }) });
    const { plant, bridge, device } = await inForce('Batt-3Phase', '2023', of, 5000);
    expect(point(device, '702.WChaRteMax')).to.equal(5000);
    expect(point(device, '712.Crv[0].Pt[0].W')).to.equal(-50);
    expect(words(answersTo(plant, bridge, of))).to.deep.equal([]);
  });

  it('a minimum power of the droop that the register does not have is not done', async () => {
    const droop = { dBOF: 30, dBUF: 30, kOF: 40, kUF: 40, openLoopTms: 400, pMin: { multiplier: 2, value: -20 } };
    const of = control({ opModFreqDroop: droop });
    const { plant, bridge, device } = await inForce('Batt-3Phase', '2023', of);
    expect(point(device, '711.Ctl[0].PMin')).to.equal(-20);
    expect(words(answersTo(plant, bridge, of))).to.deep.equal([]);
    // as if the device had lost it on the way: nobody else is its writer
    device.bank.adopt({ source: 'csip', peer: mrid }, (tx) => {
      tx.m711.Ctl[0]!.PMin = 0;
    });
    const [row, ...others] = words(answersTo(plant, bridge, of));
    expect(others).to.deep.equal([]);
    expect(row?.slice(0, 2)).to.deep.equal(['op_mod_freq_droop', 'not_done']);
    expect(row?.[2]).to.include('which is 711.Ctl[0].PMin = -20,').and.include('has 0, and nothing explains it');
  });
});
