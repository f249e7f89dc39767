import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { evseSchema, resolveEvse } from '../../../../src/config/profile/blocks/evse.ts';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { Issue } from '../../../../src/core/errors.ts';
import type { EvseParameters } from '../../../../src/contract/kinds/evse.ts';

const profiles = join(import.meta.dirname, '..', '..', '..', '..', 'config', 'profiles');

function resolved(input: EvseInput, ratedW = 22_000): { evse: EvseParameters; issues: Issue[] } {
  const issues: Issue[] = [];
  return { evse: resolveEvse(evseSchema.parse(input), ratedW, 'p.yaml', issues), issues: issues };
}

describe('profile block evse', () => {
  it('fills in every default', () => {
    const { evse, issues: issues } = resolved({});
    expect(issues).to.deep.equal([]);
    expect(evse).to.deep.include({
      maxPowerW: 22_000,
      sharing: 'proportional',
      autoAuthorize: true,
      standbyW: 3,
      startDelayMinS: 3,
      startDelayMaxS: 15,
      vehicles: [],
    });
    expect(evse.connectors).to.have.length(1);
    expect(evse.connectors[0]).to.deep.include({
      connectorId: 1,
      type: 'ac',
      standard: 'Type2',
      phases: 3,
      maxCurrentA: 32,
      minCurrentA: 6,
      attachedCable: false,
      maxDischargeW: 0,
    });
    expect(evse.connectors[0]!.minPowerW).to.be.closeTo(3 * 230 * 6 * 0.99, 1e-9);
    expect(evse.ev.acCurve).to.deep.equal([
      { socPct: 0, fraction: 1 },
      { socPct: 80, fraction: 1 },
      { socPct: 100, fraction: 0 },
    ]);
    expect(evse.ev.dcCurve).to.have.length(9);
  });

  it('a DC connector has other defaults', () => {
    const [c] = resolved({ connectors: [{ type: 'dc', bidirectional: true }] }, 50_000).evse.connectors;
    expect(c).to.deep.include({
      standard: 'CCS2',
      maxPowerW: 50_000,
      maxDischargeW: 50_000,
      minCurrentA: 0,
      minPowerW: 1000,
      voltageV: 920,
      powerFactor: 1,
      attachedCable: true,
    });
  });

  it('vehicles of connectors inherit from ev', () => {
    const { evse } = resolved({
      ev: { battery_capacity_wh: 40_000, phases: 1 },
      vehicles: [{ connector: 1, soc_pct: 80, plugged_at_start: false }],
    });
    expect(evse.vehicles[0]).to.deep.include({ connectorId: 1, pluggedAtStart: false });
    expect(evse.vehicles[0]!.ev).to.deep.include({ batteryCapacityWh: 40_000, phases: 1, socPct: 80 });
  });

  it('names what does not fit together', () => {
    const names = (input: EvseInput) => resolved(input).issues.map(({ name }) => name);
    expect(names({ vehicles: [{ connector: 2 }] })).to.deep.equal(['p.yaml: evse.vehicles[0].connector']);
    expect(names({ vehicles: [{ connector: 1 }, { connector: 1 }] })).to.deep.equal([
      'p.yaml: evse.vehicles[1].connector',
    ]);
    expect(names({ start_delay_min_s: 9, start_delay_max_s: 4 })).to.deep.equal(['p.yaml: evse.start_delay_min_s']);
    expect(names({ connectors: [{ max_power_w: 3000 }] })).to.deep.equal(['p.yaml: evse.connectors[0].max_power_w']);
    expect(
      names({
        ev: {
          charging_curve: [
            { soc_pct: 50, fraction: 1 },
            { soc_pct: 20, fraction: 1 },
          ],
        },
      }),
    ).to.deep.equal(['p.yaml: evse.ev.charging_curve']);
    expect(
      names({
        ev: {
          charging_curve: [
            { soc_pct: 0, fraction: 0 },
            { soc_pct: 20, fraction: 1 },
          ],
        },
      }),
    ).to.deep.equal(['p.yaml: evse.ev.charging_curve']);
  });

  const stray: [string, EvseInput, string][] = [
    ['connectors[0].voltage_max_v', { connectors: [{ voltage_max_v: 500 }] }, 'given 500; allowed: only with type dc'],
    ['connectors[0].phases', { connectors: [{ type: 'dc', phases: 3 }] }, 'given 3; allowed: only with type ac'],
    [
      'connectors[0].voltage_v',
      { connectors: [{ type: 'dc', voltage_v: 230 }] },
      'given 230; allowed: only with type ac',
    ],
    [
      'connectors[0].min_current_a',
      { connectors: [{ type: 'dc', min_current_a: 6 }] },
      'given 6; allowed: only with type ac',
    ],
    [
      'connectors[0].power_factor',
      { connectors: [{ type: 'dc', power_factor: 1 }] },
      'given 1; allowed: only with type ac',
    ],
    [
      'connectors[1].max_discharge_w',
      { connectors: [{}, { max_discharge_w: 5000 }] },
      'given 5000; allowed: only with bidirectional true',
    ],
    [
      'connectors[0].max_discharge_w',
      { connectors: [{ type: 'dc', bidirectional: false, max_discharge_w: 1 }] },
      'given 1; allowed: only with bidirectional true',
    ],
    [
      'ev.taper_soc_pct',
      {
        ev: {
          taper_soc_pct: 70,
          charging_curve: [
            { soc_pct: 0, fraction: 1 },
            { soc_pct: 100, fraction: 0 },
          ],
        },
      },
      'given 70; allowed: only without charging_curve, which replaces it',
    ],
    [
      'vehicles[0].taper_soc_pct',
      {
        ev: {
          charging_curve: [
            { soc_pct: 0, fraction: 1 },
            { soc_pct: 100, fraction: 0 },
          ],
        },
        vehicles: [{ connector: 1, taper_soc_pct: 70 }],
      },
      'given 70; allowed: only without charging_curve, which replaces it',
    ],
    [
      'connectors[0].voltage_max_v',
      { connectors: [{ type: 'dc', voltage_max_v: 439 }] },
      'given or derived 439; allowed: at least 440, 1.1 times battery_voltage_v of its vehicle, which is 400',
    ],
    [
      'connectors[1].voltage_max_v',
      { connectors: [{ type: 'dc' }, { type: 'dc' }], vehicles: [{ connector: 2, battery_voltage_v: 850 }] },
      'given or derived 920; allowed: at least 935, 1.1 times battery_voltage_v of its vehicle, which is 850',
    ],
  ];
  for (const [member, input, detail] of stray) {
    it(`refuses what would have no effect: ${JSON.stringify(input)}`, () => {
      expect(resolved(input, 50_000).issues).to.deep.equal([{ name: `p.yaml: evse.${member}`, detail }]);
    });
  }

  it('takes what has an effect', () => {
    const curve = [
      { soc_pct: 0, fraction: 1 },
      { soc_pct: 100, fraction: 0 },
    ];
    for (const input of [
      {
        connectors: [
          {
            phases: 1,
            min_current_a: 8,
            voltage_v: 240,
            power_factor: 0.95,
            bidirectional: true,
            max_discharge_w: 5000,
          },
        ],
      },
      { connectors: [{ type: 'dc', voltage_max_v: 440 }] },
      { connectors: [{ type: 'dc', voltage_max_v: 1500 }, {}], ev: { battery_voltage_v: 1360 } },
      { ev: { taper_soc_pct: 70 }, vehicles: [{ connector: 1, charging_curve: curve }] },
    ] satisfies EvseInput[])
      expect(resolved(input, 50_000).issues, JSON.stringify(input)).to.deep.equal([]);
  });

  it('refuses unknown members and values out of range', () => {
    for (const wrong of [
      { colour: 1 },
      { connectors: [] },
      { connectors: [{ phases: 2 }] },
      { ev: { soc_pct: 101 } },
      { standby_w: -1 },
    ]) {
      expect(evseSchema.safeParse(wrong).success, JSON.stringify(wrong)).to.equal(false);
    }
  });

  it('the bundled stations resolve, rated as they charge', () => {
    const files = readdirSync(profiles).filter((name) => name.startsWith('EVSE-'));
    expect(files.sort()).to.deep.equal([
      'EVSE-AC-11kW-1port-EU.yaml',
      'EVSE-AC-22kW-1port-EU.yaml',
      'EVSE-AC-22kW-1port.yaml',
      'EVSE-AC-7.4kW-2port.yaml',
      'EVSE-DC-150kW-CCS-1port.yaml',
      'EVSE-DC-350kW-CCS-2port.yaml',
      'EVSE-Hybrid-2DC-1AC.yaml',
      'EVSE-V2G-DC-50kW-bidir.yaml',
    ]);
    for (const file of files) {
      const { models, evse: block } = parse(readFileSync(join(profiles, file), 'utf8'));
      const { evse, issues: issues } = resolved(block, models['702'].WMaxRtg);
      expect(issues, file).to.deep.equal([]);
      expect(evse.maxPowerW, file).to.equal(models['702'].WChaRteMaxRtg);
      expect(evse.vehicles).to.deep.equal([]);
      for (const c of evse.connectors) expect(c.maxPowerW).to.be.at.most(evse.maxPowerW);
    }
  });
});
