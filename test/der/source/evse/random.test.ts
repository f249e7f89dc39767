import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../../src/core/errors.ts';
import { evseConnectorStates } from '../../../../src/contract/kinds/evse.ts';
import type { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';
import { holds } from '../../../support/property.ts';
import { command, stepping } from './actions.ts';
import type { Stepping } from './actions.ts';
import { input, station } from './rig.ts';

/** One sub-step that checks the rules of `DcSource`; returns the drawn power. */
function checkedStep(source: EvseSource, dtS: number, how: Stepping): void {
  source.prepare(dtS, { ...input, terminalPu: how.terminalPu });
  const [minW, maxW] = [-source.absorbableDcW, source.availableDcW];
  const floorW = Math.min(how.floorW, how.ceilingW);
  const answer = source.answer({ targetW: how.targetW, floorW, ceilingW: how.ceilingW });
  expect(answer).to.be.within(minW, maxW);
  if (floorW <= maxW) expect(answer).to.be.at.least(floorW - 1e-6);
  if (how.ceilingW >= minW) expect(answer).to.be.at.most(how.ceilingW + 1e-6);
  const open = how.mode === 'open';
  const drawn = open ? 0 : how.mode === 'bend' ? minW + (maxW - minW) * how.bend : answer;
  source.draw(drawn, !open);
  const { powerW, standbyW } = source.detail();
  expect(powerW + standbyW).to.be.closeTo(open ? 0 : -drawn, 1e-6);
}

function checkState(source: EvseSource): void {
  const detail = source.detail();
  JSON.stringify([detail, source.sessions()], (name, value: unknown) => {
    if (typeof value === 'number') expect(Number.isFinite(value), name).to.equal(true);
    return value;
  });
  expect(detail.powerW).to.be.at.most(detail.maxPowerW + 1e-6);
  for (const c of detail.connectors) {
    expect(evseConnectorStates).to.include(c.status);
    expect(c.powerW).to.be.at.most(c.maxPowerW + 1e-6);
    if (c.powerW < 0) expect(c.bidirectional).to.equal(true);
    if (c.ev !== null) expect(c.ev.socPct).to.be.within(0, 100);
    if (c.status === 'faulted' || c.ev === null) expect(c.powerW).to.equal(0);
  }
  for (const port of source.ports)
    for (const value of [port.voltageV, port.currentA, port.powerW]) expect(Number.isFinite(value)).to.equal(true);
  expect(source.maxStepS).to.be.at.least(1e-3);
}

/** Wanted, possible, allocated, delivered: bounds of each other, all with the sign of the flow. */
function checkPowers(source: EvseSource, settled = false): void {
  for (const c of source.detail().connectors) {
    const { wantedW, possibleW, allocatedW, allocatedA, powerW } = c;
    for (const value of [wantedW, possibleW, allocatedW, allocatedA]) expect(Number.isFinite(value)).to.equal(true);
    const sign = Math.min(wantedW, possibleW, allocatedW) < 0 ? -1 : 1;
    for (const value of [wantedW, possibleW, allocatedW]) expect(sign * value).to.be.at.least(0);
    expect(sign * allocatedW, JSON.stringify(c)).to.be.at.most(sign * possibleW + 1e-6);
    if (!settled) continue;
    expect(sign * powerW, JSON.stringify(c)).to.be.within(-1e-6, sign * allocatedW + 1e-3);
    expect(sign * powerW, JSON.stringify(c)).to.be.at.most(sign * wantedW + 1e-3);
  }
}

/** The powers once all ramps are over, without and with functions of the device. */
function checkSettledPowers(source: EvseSource): void {
  const asks = [
    { targetW: null, floorW: -1e6, ceilingW: 1e6 },
    { targetW: null, floorW: -9000, ceilingW: 1e6 },
    { targetW: -15_000, floorW: -1e6, ceilingW: 1e6 },
    { targetW: 4000, floorW: -1e6, ceilingW: 1e6 },
  ];
  for (const ask of asks) {
    source.settle(input);
    source.draw(source.answer(ask), true);
    checkPowers(source, true);
  }
}

describe('EVSE: any sequence of commands', () => {
  it('throws nothing but SimError, and keeps every bound', () => {
    let chargedWh = 0;
    let givenWh = 0;
    const sequences = holds(
      'commands in any order',
      [
        fc.array(fc.oneof(command, stepping), { minLength: 5, maxLength: 60, size: 'max' }),
        fc.constantFrom(true, true, false),
      ],
      (actions, auto) => {
        const source = station({
          auto_authorize: auto,
          standby_w: 4,
          max_power_w: 70_000,
          ev: { soc_pct: 60 },
          // a bidirectional vehicle is plugged in from the start, so that V2G occurs
          vehicles: [{ connector: 2 }],
          connectors: [{}, { type: 'dc', bidirectional: true, max_power_w: 50_000 }, { phases: 1 }],
        });
        for (const action of actions) {
          if ('kind' in action) {
            try {
              source.command(action);
            } catch (error) {
              expect(error).to.be.instanceOf(SimError);
              expect((error as SimError).code).to.not.equal('INTERNAL');
            }
          } else {
            for (let leftS = action.seconds, steps = 0; leftS > 1e-9 && steps < 40; steps++) {
              const dtS = Math.min(leftS, source.maxStepS);
              checkedStep(source, dtS, action);
              leftS -= dtS;
            }
          }
          checkState(source);
          checkPowers(source);
        }
        checkSettledPowers(source);
        chargedWh += source.detail().energyWh;
        givenWh += source.detail().energyExportWh;
      },
      { runs: 36 },
    );
    // the sequences must include charging, and where they are many also discharging
    expect(chargedWh).to.be.above(0);
    if (sequences > 300) expect(givenWh).to.be.above(0);
  });
});
