import { expect } from 'chai';
import { gatewayCommand, gatewayConfig, gatewayHelp } from '../../../src/app/cli/gateway.ts';
import { SimError } from '../../../src/core/errors.ts';

const fleet = ['--fleet', 'nats://127.0.0.1:4222'];

function issuesOf(words: readonly string[]): readonly string[] {
  try {
    gatewayConfig(words, {});
  } catch (error) {
    if (error instanceof SimError && error.code === 'CONFIG_INVALID')
      return error.issues.map(({ name, detail }) => `${name} ${detail}`);
    throw error;
  }
  return [];
}

describe('app/cli: derbench gateway', () => {
  it('takes the flags of its connections', () => {
    const config = gatewayConfig([...fleet, '-wp', '9000', '--fleet_prefix', 'lab'], {});
    expect(config?.web.port).to.equal(9000);
    expect(config?.fleet).to.include({ prefix: 'lab', waitS: 30 });
    expect(config?.fleet.servers).to.deep.equal(['nats://127.0.0.1:4222']);
  });

  it('refuses flags of devices and protocols, each with the reason', () => {
    for (const words of [
      ['-N', '3'],
      ['-d', 'Batt'],
      ['-p', '8502'],
      ['--config', 'mixed-site'],
      ['--shard', 'a'],
    ]) {
      const issues = issuesOf([...fleet, ...words]);
      expect(issues).to.have.length(1);
      expect(issues[0]).to.match(new RegExp(`^${words[0]} .*no devices and no protocols of its own`));
    }
  });

  it('needs a server of the fleet', () => {
    expect(issuesOf(['-wp', '0'])[0]).to.match(/^--fleet is missing/);
  });

  it('reads its own variables, and none of shards', () => {
    const config = gatewayConfig([], { DERBENCH_FLEET: 'nats://127.0.0.1:4223', DERBENCH_CONFIG: 'no such file' });
    expect(config?.fleet.servers).to.deep.equal(['nats://127.0.0.1:4223']);
  });

  it('prints its help', async () => {
    const lines: string[] = [];
    const io = { out: (line: string) => lines.push(line), env: {}, onInterrupt: () => undefined };
    expect(await gatewayCommand(['--help'], io)).to.equal(0);
    expect(lines).to.deep.equal([gatewayHelp]);
  });
});
