import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import type { Rest } from '../../support/rest.ts';
import { openDevices } from './support.ts';

const indexesOf = ({ devices }: Json): readonly number[] => devices.map((device: Json) => device.device_index);

describe('interface 13: pages of GET devices', () => {
  let rest: Rest;
  before(async () => {
    rest = await openDevices();
    for (const type of ['Batt', 'PV', 'Batt']) await rest.post('/devices', { device_type: type }, 201);
  });
  after(() => rest.api.stop());

  it('join to the list without a limit', async () => {
    const whole = await rest.get('/devices');
    expect(whole).to.have.all.keys('devices');
    const seen: number[] = [];
    let after: number | null = -1;
    while (after !== null) {
      const page: Json = await rest.get(`/devices?limit=2${after < 0 ? '' : `&after=${after}`}`);
      expect(page).to.include({ total: whole.devices.length, count: page.devices.length });
      seen.push(...indexesOf(page));
      after = page.next_after;
    }
    expect(seen).to.deep.equal(indexesOf(whole));
  });

  it('have the devices of one kind', async () => {
    const page = await rest.get('/devices?limit=1&kind=battery');
    expect([indexesOf(page), page.total, page.next_after]).to.deep.equal([[1], 3, 1]);
    expect(indexesOf(await rest.get('/devices?kind=battery&after=1'))).to.deep.equal([2, 4]);
  });

  it('have the devices with an alarm of a severity, or of a worse one', async () => {
    await rest.post('/controls/grid?device=3', { voltage_pu: 0.2 });
    await rest.plant.step(40);
    const alarmed = await rest.get('/devices?alarm=info');
    expect(indexesOf(alarmed)).to.deep.equal([3]);
    const { highest_severity: worst } = alarmed.devices[0].alarms;
    expect(indexesOf(await rest.get(`/devices?alarm=${worst}`))).to.deep.equal([3]);
  });

  it('have the devices with a text in their name, in any case', async () => {
    const [first] = (await rest.get('/devices')).devices;
    expect(indexesOf(await rest.get(`/devices?name=${encodeURIComponent(first.name.toUpperCase())}`))).to.include(0);
    expect(indexesOf(await rest.get('/devices?name=nobody'))).to.deep.equal([]);
  });

  it('are none of a shard', async () => {
    await rest.refused('/devices?shard=a', 404, 'unknown-resource');
  });

  it('shorten the list of the overview', async () => {
    const cut = await rest.get('/overview?limit=2');
    expect(cut.devices).to.have.length(2);
    expect(cut).to.include({ devices_total: 5, devices_truncated: true });
    expect(await rest.get('/overview?limit=9')).to.include({ devices_total: 5, devices_truncated: false });
    const last = await rest.get('/overview?limit=2&after=2');
    expect([indexesOf(last), last.devices_total, last.devices_truncated]).to.deep.equal([[3, 4], 5, false]);
    expect(await rest.get('/overview')).to.not.have.any.keys('devices_total', 'devices_truncated', 'missing');
  });
});
