import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { StationAtCentral } from './support/ocpp-central.ts';
import { brokenRules } from './support/findings.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

describeWith(['ocpp'], 'findings about a central system of the package ocpp that does its work wrongly', () => {
  let central: PythonPeer;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(120_000);
    const port = await freePorts(1);
    central = new PythonPeer('wrong_central', port);
    await central.ask('ready');
    station = await StationAtCentral.open('CP-1', central, `ws://127.0.0.1:${port}`, ['--remote_clock', 'wall']);
  });
  after(async () => {
    expect(await station.close()).to.equal(0);
    await central.stop();
  });

  it('name each of its mistakes, and no other', async () => {
    expect(await central.ask('done')).to.have.length(27);
    const rules = await station.until('its time was read three times', async () => {
      const broken = await brokenRules(station.simulator.httpPort);
      return broken.includes('ocpp.time_local') ? broken : undefined;
    });
    expect(rules).to.deep.equal([
      'ocpp.call_error_wrong',
      'ocpp.config_unknown',
      'ocpp.interval_short',
      'ocpp.limit_unit_phases',
      'ocpp.password_short',
      'ocpp.profile_rule',
      'ocpp.time_local',
      'ocpp.trigger_flood',
    ]);
    const findings = await station.brokenRules();
    expect(findings.join('\n')).not.to.include('hunter2');
  });
});
