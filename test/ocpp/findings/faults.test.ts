/** Faults of the simulator never become findings about a central system that is right. */
import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { drawn } from '../../support/random.ts';
import type { Json } from '../../support/http.ts';
import { CentralRefusal } from '../central/answers.ts';
import { id, Site } from '../whole/site.ts';

const faults: readonly Json[] = [
  { kind: 'drop_socket', probability: 0.2 },
  { kind: 'no_pong' },
  { kind: 'delay', delay_ms: 40_000 },
  { kind: 'no_response' },
  { kind: 'no_response', carried_out: true },
  { kind: 'call_error' },
  { kind: 'ignore_call' },
  { kind: 'malformed', probability: 0.5 },
  { kind: 'malformed', mode: 'null_members' },
  { kind: 'malformed', count: 1 },
  { kind: 'delay', delay_ms: 40_000, count: 1 },
  { kind: 'duplicate' },
  { kind: 'wrong_message_id' },
  { kind: 'missing_member', members: ['status', 'transactionId', 'idTag', 'idToken'] },
  { kind: 'flapping', period_s: 20 },
  { kind: 'clock_skew', skew_s: 7200 },
  { kind: 'meter_jump', factor: -1, offset_wh: -1e6 },
];

describe('findings while faults act', () => {
  let site: Site;
  afterEach(() => site.close());

  /** A central system that refuses what breaks its schema, as those of other people do. */
  async function open(flag: string, subprotocol: string): Promise<void> {
    site = await Site.open({
      flags: ['--ocpp_version', flag],
      central: { subprotocols: [subprotocol], wrong: () => undefined },
    });
    await site.until('it is connected', () => site.peers === 1);
    const { station } = site;
    station.judged = station.booked = false;
    for (const [action, answer] of Object.entries(station.answers))
      station.answers[action] = (payload) => {
        if (JSON.stringify(payload).includes('null') || Object.keys(payload).length === 0)
          throw new CentralRefusal('FormationViolation');
        return answer(payload);
      };
  }

  for (const [flag, subprotocol] of [
    ['ocpp1.6j', 'ocpp1.6'],
    ['ocpp2.0.1j', 'ocpp2.0.1'],
  ] as const)
    for (const fault of pick({ quick: drawn(subprotocol, faults, 5), ci: faults }))
      it(`${subprotocol}: ${JSON.stringify(fault)} makes none`, async () => {
        await open(flag, subprotocol);
        await site.post(`ocpp/${id}/fault`, { ...fault, duration_s: 60 });
        const action = flag === 'ocpp1.6j' ? 'GetConfiguration' : 'GetLocalListVersion';
        let asked = 0;
        const ask = () => {
          asked += 1;
          if (site.station.connected) site.station.sendText(JSON.stringify([2, `ask ${asked}`, action, {}]));
        };
        site.do({ kind: 'evse.plug', connectorId: 1 });
        void site.rest(`evse/${id}/connectors/1/authorize`, { id_token: 'A' });
        for (let n = 0; n < 4; n += 1) {
          ask();
          await site.advance(15, 15);
        }
        site.do({ kind: 'evse.unplug', connectorId: 1 });
        for (let n = 0; n < 6; n += 1) {
          ask();
          await site.advance(40, 40);
        }
        const { findings } = await site.get('findings?protocol=ocpp&state=broken');
        expect(findings.map(({ rule, text }: Json) => `${rule}: ${text}`)).to.deep.equal([]);
      });
});
