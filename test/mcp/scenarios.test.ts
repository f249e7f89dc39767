import { expect } from 'chai';
import { outwardSettings, runScenario } from '../../src/app/cli/mcp.ts';
import { scenarioTool } from '../../src/mcp/scenarios.ts';
import { callTool, contextOf } from '../../src/mcp/server.ts';
import type { RunScenario } from '../../src/mcp/tool.ts';

const endless = `
name: Endless
config: { devices: [{ device_type: PV-3Phase }] }
steps:
  - at: 29 d
    grid: { voltage_pu: 0.9 }
finally:
  - grid: { voltage_pu: 1 }
`;

const verdict = { name: 'x', state: 'passed', failures: [], error: null, summary: 'x: passed', report: {} };

describe('scenarios of MCP', () => {
  it('that are cancelled end, with the steps of finally', async () => {
    const cancelling = new AbortController();
    const order = { bundled: null, text: endless, parameters: {} };
    const run = runScenario(order, cancelling.signal);
    setImmediate(() => {
      cancelling.abort();
    });
    expect(await run).to.deep.include({ name: 'Endless', state: 'stopped', failures: [] });
    expect(await runScenario(order, AbortSignal.abort())).to.include({ state: 'stopped' });
  });

  it('run two at a time; one that is cancelled counts until it has ended', async () => {
    const ends: (() => void)[] = [];
    const slow: RunScenario = () =>
      new Promise((resolve) => {
        ends.push(() => {
          resolve(verdict);
        });
      });
    const context = contextOf({
      url: 'http://127.0.0.1:9',
      isReadOnly: false,
      outwardSettings: outwardSettings(),
      runScenario: slow,
    });
    const call = (limitMs?: number) =>
      callTool(scenarioTool, { bundled: 'volt-watt' }, context, new AbortController().signal, limitMs);
    const first = call();
    expect((await call(0)).content[0]?.text).to.include('"timeout"');
    const refused = await call();
    expect(refused.isError).to.equal(true);
    expect(refused.content[0]?.text).to.include('"conflict"').and.include('2 scenarios run already');
    for (const end of ends) end();
    expect((await first).isError).to.equal(undefined);
    const next = call();
    ends.at(-1)?.();
    expect((await next).structuredContent).to.include({ state: 'passed' });
  });
});
