import { expect } from 'chai';
import { judgePeer } from '../support/judged-peer.ts';
import { FindingsRig } from '../support/findings.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { MixedSite, pv } from './consistency/site.ts';
import { WritingMaster } from './answers/peers.ts';
import { Rest } from '../support/rest.ts';
import { testPlant } from '../support/plant.ts';

describe('GET evidence', () => {
  describe('of a site with a master', () => {
    let mixed: MixedSite;
    let master: WritingMaster;
    let json: Json;

    before(async () => {
      mixed = await MixedSite.open();
      await mixed.post('modbus/messages', { enabled: true });
      master = await WritingMaster.open(mixed.site.app, pv);
      await master.write('704.WMaxLimPct', 500);
      await master.write('704.WMaxLimPct', 20_000);
      const ignored = { protocol: 'modbus', device: pv, kind: 'ignore_write', points: ['704.WMaxLimPct'], count: 1 };
      const scaled = { protocol: 'modbus', device: pv, kind: 'scale', factor: 1.5, points: ['701.W'] };
      await mixed.post('faults', { inject: [ignored, scaled] });
      await master.write('704.WMaxLimPct', 700);
      await mixed.site.advance(1);
      json = await mixed.site.get('evidence');
    });
    after(async () => {
      master.close();
      await mixed.close();
    });

    const deviceOf = ({ devices }: Json, index: number): Json =>
      devices.find(({ device_index: of }: Json) => of === index);

    it('has the answers, changes and gaps of each device as their operations have them', async () => {
      const device = deviceOf(json, pv);
      const { answers } = await mixed.site.get(`answers?device=${pv}`);
      expect(device.answers).to.have.deep.members(answers);
      expect(device.answers.map(({ done }: Json) => done)[0], 'what is not done comes first').to.equal(false);
      const { changes } = await mixed.site.get(`registers/changes?device=${pv}`);
      expect(device.changes).to.deep.equal(changes);
      expect(changes).to.not.have.lengthOf(0);
      const { quantity_count: count, difference_count: differences } = await mixed.site.get(`consistency?device=${pv}`);
      expect([device.quantity_count, device.differences.length]).to.deep.equal([count, differences]);
      const [difference] = device.differences.filter(({ quantity }: Json) => quantity === 'active_power');
      expect(difference).to.include({ protocol: 'modbus', place: '701.W', cause: 'fault' });
      expect(difference.value).to.be.closeTo(1.5 * difference.reference, 1);
      expect(device.unrecorded.map(({ protocol }: Json) => protocol))
        .to.include('dnp3')
        .and.not.include('modbus');
    });

    it('has what was refused', () => {
      expect(json.refusals.map(({ kind }: Json) => kind)).to.include('refusal');
      expect(new Set(json.refusals.map(({ kind }: Json) => kind)).size).to.equal(1);
    });

    it('fails in JUnit XML for what a fault has changed and what is not done', async () => {
      const { text } = await ask(mixed.site.port, `/api/sim/evidence?format=junit&device=${pv}`);
      expect(text).to.match(/name="quantity active_power"[^>]*><failure message="modbus: fault"/);
      expect(text).to.match(/name="modbus [^"]*704\.WMaxLimPct at [^"]*"[^>]*><failure message="not done"/);
    });

    it('is of one device on request', async () => {
      const one = await mixed.site.get(`evidence?device=${pv}`);
      expect(one.devices.map(({ device_index: index }: Json) => index)).to.deep.equal([pv]);
      expect(one.more_devices).to.equal(0);
    });
  });

  describe('with a judged peer', () => {
    let rest: Rest;
    before(async () => {
      const rig = new FindingsRig();
      judgePeer(rig.registry, null);
      rest = await Rest.open(testPlant({ types: Array.from({ length: 102 }, () => 'PV') }), { findings: rig.registry });
      await rest.post('/registers/704', { points: { WMaxLimPct: 40 } });
    });
    after(() => rest.api.stop());

    it('is a page whose texts of others are no markup, and that needs no script', async () => {
      const { text, headers } = await rest.call('/evidence?format=html&device=0');
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(text).to.contain('wrote half of &lt;b&gt;704.WMaxLimPct&lt;/b&gt;').and.not.contain('<b>');
      expect(text).to.not.contain('<script');
      expect(text).to.match(/<td>704\.WMaxLimPct<\/td><td>100<\/td><td>40/);
      expect(headers['content-security-policy']).to.contain("default-src 'none'");
    });

    it('is JUnit XML with a suite for each peer and device', async () => {
      const { text } = await rest.call('/evidence?format=junit');
      expect(text.match(/<testsuite /g)).to.have.lengthOf(101);
      expect(text).to.match(/<testsuite name="Device 0, [^"]*" [^>]*tests="1" failures="0"/);
      const failures = (of: string) => of.match(/<failure /g)?.length ?? 0;
      const strict = await rest.call('/evidence?format=junit&fail_on=remark');
      expect(failures(strict.text)).to.be.greaterThan(failures(text));
    });

    it('has the first hundred devices, and says how many are left out', async () => {
      const { devices, more_devices: more } = await rest.get('/evidence');
      expect([devices.length, more]).to.deep.equal([100, 2]);
      await rest.refused('/evidence?device=200', 404, 'unknown-device');
    });
  });
});
