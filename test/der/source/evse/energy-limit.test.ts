/** The energy that a session may still take. */
import { expect } from 'chai';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { SourceTransition } from '../../../../src/der/source/source.ts';
import { codeOf } from '../../../support/map.ts';
import { at, plug, run, station, step, v2g } from './rig.ts';

const limit = (energyWh: number | null): EvseCommand => ({ kind: 'evse.energy_limit', connectorId: 1, energyWh });

function charging(block: EvseInput = {}, seconds = 30) {
  const source = station({ auto_authorize: true, ...block }, 50_000);
  plug(source);
  run(source, seconds);
  return source;
}

describe('EVSE: energy limit of a session', () => {
  for (const dtS of [0.1, 1, 600]) {
    it(`is met exactly at sub-steps of up to ${dtS} s: the station suspends, and nothing more flows`, () => {
      for (const block of [{}, v2g, { ev: { soc_pct: 79.9 } }]) {
        const source = charging(block);
        const before = at(source).session!.energyWh;
        source.command(limit(100));
        run(source, 600, dtS);
        expect(at(source).session!.energyWh - before).to.be.closeTo(100, 1e-3);
        expect(at(source).session!.energyWh - before).to.be.at.most(100 + 1e-9);
        expect(at(source)).to.deep.include({ status: 'suspended_evse', powerW: 0, limitSource: 'local', limitW: 0 });
        expect(at(source)).to.deep.include({ allocatedW: 0, contactorClosed: false });
      }
    });
  }

  it('one step of an hour is no way around it, nor a set-point of the device', () => {
    for (const ask of [{}, { targetW: -50_000 }, { floorW: -9000 }]) {
      const source = charging();
      const before = at(source).session!.energyWh;
      source.command(limit(100));
      step(source, 3600, ask);
      expect(at(source).session!.energyWh - before).to.be.closeTo(100, 1e-6);
    }
  });

  it('is told at its instant with its writer: a station that holds, by the one who has set the limit', () => {
    const source = charging();
    const told: SourceTransition[] = [];
    source.onTransition((t) => told.push(t));
    const [startS, powerW] = [source.nowS, at(source).powerW];
    source.command(limit(50), { source: 'ocpp', peer: 'CP' });
    run(source, 60, 600);
    const holds = told.filter(({ event }) => event === 'evse_hold');
    expect(holds).to.have.lengthOf(1);
    expect(holds[0]).to.deep.include({ by: { source: 'ocpp', peer: 'CP' }, cause: 'limit', powerW: 0 });
    expect((holds[0] as { atS: number }).atS - startS).to.be.closeTo((50 * 3600) / powerW, 2e-3);
    expect(told.map(({ event }) => event)).to.deep.equal(['evse_hold']);
  });

  it('0 stops at once, before the first energy too; null or more energy goes on', () => {
    const source = charging();
    const before = at(source).session!.energyWh;
    source.command(limit(0));
    expect(at(source)).to.deep.include({ status: 'suspended_evse', powerW: 0 });
    run(source, 60);
    expect(at(source).session!.energyWh).to.equal(before);
    source.command(limit(10));
    expect(at(source).status).to.equal('charging');
    run(source, 60);
    expect(at(source).session!.energyWh).to.be.closeTo(before + 10, 1e-3);
    source.command(limit(null));
    run(source, 60);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 11_000 });
    const early = charging({}, 1);
    expect(at(early).phase).to.equal('starting');
    early.command(limit(0));
    run(early, 60);
    expect(at(early)).to.deep.include({ status: 'suspended_evse', energyWh: 0 });
  });

  it('the energy counts, not the meter, and what the vehicle gives back adds nothing', () => {
    const source = charging(v2g);
    source.command(limit(100));
    source.command({ kind: 'evse.meter', connectorId: 1, energyWh: 0 });
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: 20_000 });
    run(source, 60);
    source.command({ kind: 'evse.discharge', connectorId: 1, powerW: null });
    run(source, 120);
    expect(at(source).energyWh).to.be.closeTo(100, 1e-3);
    expect(at(source).energyExportWh).to.be.above(200);
    expect(at(source).status).to.equal('suspended_evse');
  });

  it('a resume does not lift it; beside a suspension by command both have to end', () => {
    const source = charging();
    source.command(limit(0));
    expect(codeOf(() => source.command({ kind: 'evse.resume', connectorId: 1, by: 'evse' }))).to.equal(
      'COMMAND_CONFLICT',
    );
    source.command({ kind: 'evse.suspend', connectorId: 1, by: 'evse' });
    source.command({ kind: 'evse.resume', connectorId: 1, by: 'evse' });
    expect(at(source).status).to.equal('suspended_evse');
    source.command({ kind: 'evse.suspend', connectorId: 1, by: 'evse' });
    source.command(limit(null));
    expect(at(source).status).to.equal('suspended_evse');
    source.command({ kind: 'evse.resume', connectorId: 1, by: 'evse' });
    run(source, 30);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 11_000 });
  });

  it('ends with its session and with a reset of the device; without a session there is none', () => {
    const source = charging();
    source.command(limit(0));
    source.command({ kind: 'evse.stop', connectorId: 1 });
    expect(codeOf(() => source.command(limit(0)))).to.equal('COMMAND_CONFLICT');
    source.command({ kind: 'evse.start', connectorId: 1, idToken: 'TAG' });
    run(source, 30);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 11_000 });
    source.command(limit(0));
    source.restart();
    plug(source);
    run(source, 30);
    expect(at(source)).to.deep.include({ status: 'charging', powerW: 11_000 });
    for (const bad of [-1, NaN, Infinity, 1e10])
      expect(codeOf(() => source.command(limit(bad)))).to.equal('COMMAND_BAD_VALUE');
  });
});
