import { expect } from 'chai';
import type { z } from 'zod';
import { allRoutes } from '../../../src/api/routes.ts';
import { spreadOperations } from '../../../src/api/description/partly.ts';
import { hasBody } from '../../../src/api/http/route.ts';
import { joinedLists } from '../../../src/fleet/gateway/lists.ts';
import { ruleEntries, ruleNames, ruleOf } from '../../../src/fleet/gateway/rules.ts';

const idsOf = (name: string) => ruleEntries.flatMap(([id, rule]) => (rule.name === name ? [id] : []));

describe('fleet/gateway: rules of the operations', () => {
  for (const { operationId } of allRoutes) {
    it(`${operationId} has a rule`, () => {
      expect(ruleOf(operationId)?.name).to.be.oneOf([...ruleNames]);
    });
  }

  it('are of operations that exist, each with one rule', () => {
    const ids = ruleEntries.map(([id]) => id);
    expect([...ids].sort()).to.deep.equal(allRoutes.map(({ operationId }) => operationId).sort());
  });

  it('have the parameters by which they find the shard', () => {
    const routeOf = (id: string) => allRoutes.find(({ operationId }) => operationId === id);
    const paths = (name: string) => idsOf(name).map((id) => routeOf(id)?.path ?? '');
    expect(paths('index').every((path) => path.startsWith('/devices/{index}'))).to.equal(true);
    expect(paths('station').every((path) => /^\/(evse|ocpp)\/\{id\}/.test(path))).to.equal(true);
    expect(paths('record').every((path) => path.includes('{id}'))).to.equal(true);
    const withoutDevice = ['device', 'device-or-all'].flatMap(idsOf).filter((id) => {
      return !('device' in (routeOf(id)?.query.shape ?? {}));
    });
    // it looks for servers in the network, which any shard can do
    expect(withoutDevice).to.deep.equal(['discover_csip_servers']);
  });

  it('have lists whose replies may name shards that they are without', () => {
    // the list of the devices is joined by itself
    expect(Object.keys(joinedLists)).to.have.members(idsOf('list').filter((id) => id !== 'list_devices'));
    const withoutMissing = Object.keys(joinedLists).filter((id) => {
      const schema = allRoutes.find(({ operationId }) => operationId === id)?.reply as z.ZodObject | undefined;
      return !schema?.shape || !('missing' in schema.shape);
    });
    expect(withoutMissing).to.deep.equal([]);
  });

  it('are described with status 207 where several shards carry a request out', () => {
    const spread = [...idsOf('all'), ...idsOf('device-or-all'), 'set_time', 'step_time'];
    expect([...spreadOperations].sort()).to.deep.equal(spread.sort());
  });

  it('change nothing where lists are joined, and only there what several shards are asked', () => {
    const methods = (name: string) =>
      idsOf(name)
        .map((id) => allRoutes.find(({ operationId }) => operationId === id))
        .map((route) => route && (hasBody(route) || route.method === 'delete'));
    expect(methods('list')).to.not.include(true);
    expect([...methods('all'), ...methods('device-or-all')]).to.not.include(false);
  });
});
