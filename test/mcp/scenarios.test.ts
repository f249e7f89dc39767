import { expect } from 'chai';
import { mcp, outwardSettings, runScenario } from '../../src/app/cli/mcp.ts';
import { scenarioTool } from '../../src/mcp/scenarios.ts';
import { callTool, contextOf } from '../../src/mcp/server.ts';
import type { RunScenario } from '../../src/mcp/tool.ts';

const long = `
name: Long
config: { devices: [{ device_type: PV-3Phase }] }
steps:
  - at: 2 h
    grid: { voltage_pu: 0.9 }
finally:
  - grid: { voltage_pu: 1 }
`;

const verdict = { name: 'x', state: 'passed', failures: [], error: null, summary: 'x: passed', report: {} };

describe('scenarios of MCP', () => {
  it('that are cancelled end, with the steps of finally', async () => {
    const cancelling = new AbortController();
    const order = { bundled: null, text: long, parameters: {} };
    const run = runScenario(order, cancelling.signal);
    setImmediate(() => {
      cancelling.abort();
    });
    expect(await run).to.deep.include({ name: 'Long', state: 'stopped', failures: [] });
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
    const call = (tool = scenarioTool) =>
      callTool(tool, { bundled: 'volt-watt' }, context, new AbortController().signal);
    const first = call();
    expect((await call({ ...scenarioTool, limitMs: 0 })).content[0]?.text).to.include('"timeout"');
    const third = call();
    for (const end of ends) end();
    const refused = await third;
    expect(refused.isError).to.equal(true);
    expect(refused.content[0]?.text).to.include('"conflict"').and.include('2 scenarios run already');
    expect((await first).isError).to.equal(undefined);
    const next = call();
    ends.at(-1)?.();
    expect((await next).structuredContent).to.include({ state: 'passed' });
  });
});

describe('derbench mcp', () => {
  it('refuses an address of another form before it serves', async () => {
    const failure = await mcp(['--url', 'simulator'], () => undefined).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'CONFIG_INVALID' });
    expect((failure as Error).message).to.include('--url: given "simulator"');
  });
});
