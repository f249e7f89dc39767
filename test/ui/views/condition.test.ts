import { expect } from 'chai';
import type { DeviceEntry } from '../../../src/ui/store/site';
import type { KindState } from '../../../src/ui/store/stream';
import { conditionOf, isHeld, limitWords, shapeOf, stateLine, toneOf } from '../../../src/ui/views/devices/condition';
import { Daemon } from '../support/daemon.ts';
import { description } from '../support/description.ts';
import { kinds } from '../support/site.ts';

const { kind_state: states, limited_by: limits } = description.components.schemas.DeviceSummary.properties;
const words: readonly KindState[] = states.enum;

describe('line of state of a device', () => {
  const example = new Daemon().exampleOf('GET', 'overview').devices[0] as DeviceEntry;
  const lineOf = (more: Partial<DeviceEntry>, detail: string | null = null) =>
    stateLine(conditionOf({ ...example, ...more }, undefined), detail);

  it('has words and a mark for each state of each kind', () => {
    for (const kind of kinds)
      for (const state of words) {
        const device = { ...example, asset_type: kind, kind_state: state, state_of_charge_pct: 60.1 };
        const condition = conditionOf(device, undefined);
        const text = stateLine(condition);
        expect(text, `${kind} ${state}`).to.not.match(/undefined|null|NaN|^$/);
        if (state !== 'producing' && state !== 'limited') expect(text).to.contain(state);
        expect(toneOf(condition)).to.be.oneOf(['good', 'warn', 'bad', 'off']);
        expect(shapeOf(condition)).to.equal(
          state === 'tripped' || state === 'fault' ? 'tripped' : toneOf(condition) === 'off' ? 'idle' : 'plain',
        );
      }
  });

  it('has a word for each limit', () => {
    const keys = limits.enum.filter((key: string | null) => key !== null);
    expect(Object.keys(limitWords)).to.have.members(keys);
  });

  const lines: readonly (readonly [string, Partial<DeviceEntry>, string | null])[] = [
    [
      'volt-watt, 412.60 of 484.90',
      { kind_state: 'limited', limited_by: 'volt_watt', power_kw: 412.6, possible_kw: 484.9 },
      null,
    ],
    [
      'volt-watt, 9.80 of 12.00\u00a0MW',
      { kind_state: 'limited', limited_by: 'volt_watt', power_kw: 9800, possible_kw: 12_000 },
      null,
    ],
    ['nothing limits', { kind_state: 'producing', limited_by: null }, null],
    ['tripped, back in 4:36', { kind_state: 'tripped' }, 'back in 4:36'],
    ['charging, 60.1\u00a0%', { asset_type: 'battery', kind_state: 'charging', state_of_charge_pct: 60.1 }, null],
    ['idle, tank 71\u00a0%', { asset_type: 'fuelcell', kind_state: 'idle' }, 'tank 71\u00a0%'],
    [
      'EV-7 40.1\u00a0%, limit 6.00',
      {
        asset_type: 'evse',
        kind_state: 'charging',
        limited_by: 'charging_profile',
        power_kw: -6,
        vehicle: { name: 'EV-7', soc_pct: 40.1 },
      },
      null,
    ],
    ['no vehicle', { asset_type: 'evse', kind_state: 'no vehicle', vehicle: null }, null],
    [
      'EV-7 40.1\u00a0%, waits for authorisation',
      { asset_type: 'evse', kind_state: 'waits for authorisation', vehicle: { name: 'EV-7', soc_pct: 40.1 } },
      null,
    ],
    [
      'PV 6.90, battery 50.1\u00a0%',
      { asset_type: 'hybrid-dc', kind_state: 'charging', state_of_charge_pct: 50.1 },
      'PV 6.90, battery 50.1\u00a0%',
    ],
  ];
  for (const [text, more, detail] of lines)
    it(`says "${text}"`, () => {
      expect(lineOf(more, detail)).to.equal(text);
    });

  it('does not call a fuel cell limited that runs at its set-point', () => {
    const cell = { ...example, asset_type: 'fuelcell', limited_by: 'active_power', power_kw: 4 } as const;
    const look = (state: KindState) => {
      const condition = conditionOf({ ...cell, kind_state: state }, undefined);
      return [stateLine(condition), toneOf(condition), shapeOf(condition), isHeld(condition)];
    };
    expect(look('producing at set-point')).to.deep.equal(['producing at set-point 4.00', 'good', 'plain', false]);
    expect(look('producing')).to.deep.equal(['producing 4.00', 'warn', 'limited', true]);
  });

  it('has a triangle where somebody holds the power, and a circle where only the rating does', () => {
    const tone = (limitedBy: DeviceEntry['limited_by']) =>
      toneOf(conditionOf({ ...example, kind_state: 'charging', limited_by: limitedBy }, undefined));
    expect([tone('charging_profile'), tone('ev'), tone(null)]).to.deep.equal(['warn', 'good', 'good']);
  });
});
