/** One head-end over four protocols at once: each of its mistakes is in the one report on it, and nothing else is. */
import { expect } from 'chai';
import { Site } from '../csip/whole/site.ts';
import { hex } from '../dnp3/rig/frames.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { Central } from '../ocpp/central/central.ts';
import type { Json } from '../support/http.ts';
import { RawClient } from '../support/modbus-client.ts';
import { modbusEndpoint } from '../support/running-app.ts';

const name = 'Head-end A';
/** A latch of output 40 without a SELECT before. */
const operate = hex('0c 01 28 01 00 28 00 03 01 00 00 00 00 00 00 00 00 00');
const integrity = hex('3c 02 06 3c 03 06 3c 04 06 3c 01 06');

describe('findings: one head-end over Modbus, IEEE 2030.5, OCPP and DNP3', () => {
  let site: Site;
  let central: Central;
  let master: RawClient;
  let scada: TestMaster;

  before(async () => {
    central = await Central.open({ subprotocols: ['ocpp1.6'] });
    site = await Site.open({
      types: ['EVSE'],
      flags: [
        ...['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_version', 'ocpp1.6j'],
        ...['--dnp3_enable', 'yes', '--dnp3_port', '0'],
      ],
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi);
        headEnd.program({ default: { opModMaxLimW: 9000 }, primacy: 1 });
      },
    });
    await site.advance(90);
    const { app } = site;
    master = await RawClient.open(modbusEndpoint(app, 0).port);
    const endpoint = app.adapters
      .map((adapter) => (adapter.comm === 'dnp3' ? adapter.endpointOf?.(0) : null))
      .find((one) => one?.protocol === 'dnp3');
    if (endpoint?.protocol !== 'dnp3') throw new Error('there is no outstation');
    scada = await TestMaster.connect({ port: endpoint.port, outstation: endpoint.outstation, address: 4 });
  });
  after(async () => {
    master.socket.destroy();
    await scada.close();
    await site.close();
    await central.close();
  });

  const ruleOf = ({ rule }: Json): string => rule;
  const report = () => site.get(`findings/peers/${encodeURIComponent(name)}`);

  it('has one report without a finding while it does all right', async () => {
    master.send('0001000000060103' + '9c400004');
    await master.answer();
    await scada.request(1, integrity);
    const { peers } = await site.get('findings/peers');
    const match = peers.map(({ identities: [{ protocol, address }] }: Json) => ({ protocol, address }));
    expect(match.map(({ protocol }: Json) => protocol)).to.have.members(['csip', 'ocpp', 'modbus', 'dnp3']);
    await site.post('findings/peers', { name, match });
    expect((await site.get('findings/peers')).peers).to.have.length(1);
    const { broken, identities, held } = await report();
    expect(broken.map(ruleOf)).to.deep.equal([]);
    expect(identities).to.have.length(4);
    for (const protocol of ['csip', 'ocpp', 'modbus', 'dnp3'])
      expect(held.map(ruleOf).join(' '), protocol).to.include(`${protocol}.`);
  });

  it('has each mistake in it, by protocol, with its clause and what was sent', async () => {
    // 701.ConnSt, which nobody may write
    master.send('0002000000090110' + '9c8b' + '0001020000');
    await master.answer();
    await scada.ask(4, operate);
    await central.station('SIM-CP-1').brokenCall('Dance');
    site.headEnd.trick('GET', '/tm', { kind: 'rewrite', change: (xml) => xml.replace(/<quality>7/, '<quality>700') });
    await site.advance(60 * 16, 10);
    const { verdict, broken } = await report();
    expect(broken.map(ruleOf)).to.have.members([
      'csip.schema',
      'dnp3.operate_without_select',
      'modbus.write_read_only',
      'ocpp.action_unknown',
    ]);
    expect(verdict).to.equal('violations');
    for (const { rule, clause, text, consequence, evidence } of broken) {
      for (const words of [clause, text, consequence]) expect(words, rule).to.be.a('string').that.is.not.empty;
      expect(evidence[0].text, rule).to.equal(text);
    }
    const { findings } = await site.get('findings?severity=violation');
    expect(findings.map(({ peer }: Json) => peer.name)).to.deep.equal([name, name, name, name]);
  });
});
