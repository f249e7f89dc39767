import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { configuredDevices } from '../../support/configured.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const path = '/controls/shading';
/** The higher maximum of the curve lies in the DC window of a bundled profile. */
const shade = { shaded_share: 0.3, irradiance_share: 0.4 };

/** Powers at the local maxima of a curve, W. */
function maxima(curve: Json): number[] {
  const powers: number[] = curve.map(({ p }: Json) => p);
  return powers.filter((p, i) => p > (powers[i - 1] ?? Infinity) && p >= (powers[i + 1] ?? Infinity));
}

describe('interface 6: partial shading', () => {
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(
      testPlant({
        types: ['PV-3Phase', 'HybridDC-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'EVSE'],
      }),
    );
    await rest.plant.step(20);
  });
  afterEach(() => rest.api.stop());

  const arrayKw = async (device: number): Promise<number> =>
    device === 1
      ? (await rest.get('/hybrid-dc?device=1')).pv.power_kw
      : (await rest.get(`/overview?device=${device}`)).metrics.dc_power_kw;

  it('there is none at first', async () => {
    for (const device of [0, 1]) {
      expect(await rest.get(`${path}?device=${device}`)).to.include({
        device_index: device,
        shaded_share: 0,
        irradiance_share: 1,
      });
    }
  });

  for (const [kind, device] of [
    ['PV device', 0],
    ['hybrid', 1],
  ] as const) {
    it(`takes power from the array of a ${kind} until it ends with a share of 0`, async () => {
      const query = `?device=${device}`;
      const before = await arrayKw(device);
      expect(before).to.be.greaterThan(3);
      expect(await rest.post(`${path}${query}`, shade)).to.include({ ...shade, device_index: device });
      await rest.plant.step(40);
      expect(await rest.get(`${path}${query}`)).to.include({ ...shade, mppt_state: 'track' });
      // the bypass diodes of the shaded modules conduct: what is left is about the share in the sun
      expect((await arrayKw(device)) / before).to.be.within(0.6, 0.72);
      expect(await rest.post(`${path}${query}`, { shaded_share: 0, irradiance_share: 0.3 })).to.include({
        shaded_share: 0,
        irradiance_share: 1,
      });
      await rest.plant.step(40);
      expect(await arrayKw(device)).to.be.closeTo(before, 0.02 * before);
    });
  }

  it('shades one device alone', async () => {
    await rest.post(`${path}?device=1`, shade);
    expect(await rest.get(path)).to.include({ device_index: 0, shaded_share: 0 });
  });

  it('gives the curve a second maximum, of which the tracker finds the higher one', async () => {
    expect(maxima((await rest.get('/dc-iv?points=200')).curve)).to.have.length(1);
    await rest.post(path, shade);
    await rest.plant.step(40);
    const { curve, mpp, operating_point: now } = await rest.get('/dc-iv?points=200');
    const tops = maxima(curve);
    expect(tops).to.have.length(2);
    expect(mpp.p).to.be.closeTo(Math.max(...tops), 0.01 * mpp.p);
    expect(now.p).to.be.closeTo(mpp.p, 0.02 * mpp.p);
    await rest.post(path, { ...shade, shaded_share: 0 });
    await rest.plant.step(2);
    expect(maxima((await rest.get('/dc-iv?points=200')).curve)).to.have.length(1);
  });

  it('is for arrays alone', async () => {
    for (const device of [2, 3, 4, 5]) {
      await rest.refused(`${path}?device=${device}`, 404, 'not-applicable');
      await rest.refused(`${path}?device=${device}`, 404, 'not-applicable', shade);
    }
    await rest.refused(`${path}?device=6`, 404, 'unknown-device');
  });

  it('refuses shares that are none, and changes nothing', async () => {
    for (const [body, names] of [
      [{}, ['/shaded_share', '/irradiance_share']],
      [{ shaded_share: 0.2 }, ['/irradiance_share']],
      [{ ...shade, shaded_share: 1.01 }, ['/shaded_share']],
      [{ ...shade, irradiance_share: -0.1 }, ['/irradiance_share']],
      [{ ...shade, mppt: 'local' }, ['/mppt']],
    ] as const) {
      const { errors } = await rest.refused(path, 422, 'validation', body);
      expect(
        errors.map(({ name }: Json) => name),
        JSON.stringify(body),
      ).to.deep.equal(names);
    }
    expect(await rest.get(path)).to.include({ shaded_share: 0, irradiance_share: 1 });
  });
});

describe('interface 6: partial shading of an inverter with several inputs', () => {
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(testPlant({ devices: configuredDevices('-f', '20kW-2MPPT-3Phase-EU'), nominalHz: 50 }));
    await rest.plant.step(20);
  });
  afterEach(() => rest.api.stop());

  it('is that of one input where the request names it, and each is shown', async () => {
    const { inputs } = await rest.post(path, { ...shade, input: 1 });
    expect(inputs).to.deep.equal([
      { input: 0, name: 'East', shaded_share: 0, irradiance_share: 1, mppt_state: 'track' },
      { input: 1, name: 'West', ...shade, mppt_state: 'track' },
    ]);
    // the first one that is shaded stands for the device
    expect(await rest.get(path)).to.deep.include({ ...shade, inputs });
    await rest.plant.step(40);
    const curves = [await rest.get('/dc-iv?points=200'), await rest.get('/dc-iv?points=200&port=1')];
    expect(curves.map(({ port, curve }) => [port, maxima(curve).length])).to.deep.equal([
      [0, 1],
      [1, 2],
    ]);
    await rest.refused('/dc-iv?port=2', 404, 'unknown-resource');
    for (const input of [2, 12, -1, 0.5]) await rest.refused(path, 422, 'validation', { ...shade, input });
    const { dc_ports: ports } = await rest.get('/nameplate');
    expect(ports.map(({ type, name }: Json) => [type, name])).to.deep.equal([
      ['pv', 'East'],
      ['pv', 'West'],
    ]);
    expect((await rest.post(path, shade)).inputs.map(({ shaded_share }: Json) => shaded_share)).to.deep.equal([
      0.3, 0.3,
    ]);
  });

  it('the history has power and voltage of each input', async () => {
    await rest.post(path, { ...shade, input: 1 });
    await rest.plant.step(40);
    const { metrics, samples } = await rest.get('/history');
    expect(metrics.filter((name: string) => name.startsWith('input_'))).to.deep.equal([
      'input_0_power_kw',
      'input_0_voltage_v',
      'input_1_power_kw',
      'input_1_voltage_v',
    ]);
    const {
      dc_power_kw: total,
      dc_voltage_v: first,
      input_0_power_kw: east,
      input_1_power_kw: west,
      ...others
    } = samples.at(-1);
    expect(Number(east) + Number(west)).to.be.closeTo(total, 0.01);
    expect(others.input_0_voltage_v).to.be.closeTo(first, 0.1);
    expect(west / east).to.be.within(0.5, 0.8);
  });
});
