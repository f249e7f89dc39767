import { expect } from 'chai';
import { createApp } from '../../../src/app/build.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { ask } from '../../support/http.ts';

const hybrid = ['--device_type', 'HybridDC-3Phase', '-wp', '0', '-p', '0', '--start_paused', 'yes'];

describe('GET nameplate/configured-settings', () => {
  it('names what flags and environment put in the place of the profile, then what a client has set', async () => {
    // the policy is a word: it has no line
    const flags = ['--hybrid_pv_kw', '12', '--hybrid_inverter_kva', '20', '--hybrid_dispatch', 'pv_priority'];
    const loaded = loadConfig([...hybrid, ...flags], { DERBENCH_HYBRID_SOC_MIN_PCT: '15' });
    if (loaded.kind !== 'run') throw new Error(loaded.text);
    const app = createApp(loaded.config, { logBook: createLogBook({ write: () => undefined }), checkReplies: true });
    const { http } = await app.start();
    const settings = async () => (await ask(http.port, '/api/sim/nameplate/configured-settings')).json.overrides;
    const startOf = (point: string, name: string, value: number, unit: string, origin: string) => ({
      point,
      name,
      value,
      rated_value: null,
      unit,
      origin,
      flag: `--${name}`,
      set_at: null,
    });
    const atStart = [
      startOf('hybrid.pv_w', 'hybrid_pv_kw', 12_000, 'W', 'flag'),
      startOf('702.VAMaxRtg', 'hybrid_inverter_kva', 20_000, 'VA', 'flag'),
      startOf('hybrid.soc_min_pct', 'hybrid_soc_min_pct', 15, '%', 'config'),
    ];
    const before = await settings();
    const body = { points: { WMax: 9000 } };
    const written = await ask(http.port, '/api/sim/registers/702', { body });
    const after = await settings();
    await app.stop();
    expect(before).to.deep.equal(atStart);
    expect(written.status).to.equal(200);
    expect(after.slice(0, 3)).to.deep.equal(atStart);
    expect(after.slice(3)).to.have.lengthOf(1);
    expect(after[3]).to.include({ point: '702.WMax', value: 9000, rated_value: 20_000, origin: 'rest', flag: null });
  });
});
