import { expect } from 'chai';
import { sentenceOf } from '../../../src/ui/views/devices/grid-support/why';
import type { Controls, Trace } from '../../../src/ui/views/devices/grid-support/why';

const now = (over: Partial<Trace['now']>) =>
  ({
    active_power_kw: 3,
    available_kw: 5,
    active_decided_by: 'source',
    service: 'in_service',
    ...over,
  }) as Trace['now'];
const controlsOf = (over: object) => ({ modes: {}, decided_by: { site_limit: null }, ...over }) as unknown as Controls;
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('why the power is what it is', () => {
  it('of injected power, names it beside what is available', () => {
    expect(plain(sentenceOf(now({})))).to.equal(
      '3.00 kW of 5.00 kW available: the source gives no more (nothing limits)',
    );
    expect(
      plain(sentenceOf(now({ active_power_kw: 0, active_decided_by: 'out_of_service', service: 'tripped' }))),
    ).to.equal('0.00 kW of 5.00 kW available: out of service (tripped)');
  });

  it('of absorbed power, such as that of a charging station, says what takes no more', () => {
    expect(plain(sentenceOf(now({ active_power_kw: -6, available_kw: 0 })))).to.equal(
      '6.00 kW absorbed: the source takes no more (nothing limits)',
    );
  });

  it('under a limit of the connection point, names limit, value and owner', () => {
    const limit = { devices: null, limit: 'import', limit_kw: 6, owner: 'csip:A1' };
    const controls = controlsOf({ decided_by: { site_limit: limit } });
    expect(plain(sentenceOf(now({ active_power_kw: -6, active_decided_by: 'site' }), controls))).to.equal(
      '6.00 kW absorbed: a limit of the connection point: import at most 6.00 kW, set by csip:A1',
    );
    expect(plain(sentenceOf(now({ active_decided_by: 'site' })))).to.match(/: a limit of the connection point$/);
    const wordsFor = (devices: readonly number[]) =>
      plain(
        sentenceOf(
          now({ active_decided_by: 'site' }),
          controlsOf({ decided_by: { site_limit: { ...limit, devices } } }),
        ),
      );
    expect(wordsFor([1])).to.match(/: import of device 1 at most 6.00 kW, set by csip:A1$/);
    expect(wordsFor([0, 2])).to.match(/: import of devices 0, 2 at most/);
    expect(wordsFor(Array.from({ length: 11 }, (_, i) => i))).to.match(/: import of devices 0, .*, 9, \.\.\. at most/);
  });

  it('under a function, names the function and its writer', () => {
    const max_power = { source: 'modbus', source_detail: 'unit 1', changed_at: '2026-06-21T12:04:07.000Z' };
    expect(plain(sentenceOf(now({ active_decided_by: 'max_power' }), controlsOf({ modes: { max_power } })))).to.match(
      /: max power limits, set by modbus \(unit 1\) at \d/,
    );
    expect(plain(sentenceOf(now({ active_decided_by: 'volt_watt' })))).to.match(/: volt-watt limits$/);
  });
});
