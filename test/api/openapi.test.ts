import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { problemTable } from '../../src/core/problem.ts';
import { errorCodes } from '../../src/core/errors.ts';
import { apiVersion } from '../../src/api/context.ts';
import { problemOf } from '../../src/api/errors.ts';
import { describeApi } from '../../src/api/openapi.ts';
import { apiPrefix, tags } from '../../src/api/route.ts';
import { allRoutes } from '../../src/api/routes/all.ts';
import { createApi } from '../../src/api/server.ts';
import type { Plant } from '../../src/sunspec/map/device.ts';
import { apiContext } from '../support/api-context.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';

const document: Json = JSON.parse(JSON.stringify(describeApi(allRoutes, apiVersion)));
const operations: { name: string; operation: Json }[] = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })));

describe('OpenAPI description', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(document);
    expect(result.errors).to.equal(undefined);
    expect(result.valid).to.equal(true);
    expect(document.openapi).to.equal('3.1.0');
    expect(document.info.version).to.equal(apiVersion);
  });

  it('has exactly the operations that are served', () => {
    expect(operations.map(({ name }) => name)).to.have.members(allRoutes.map(({ method, path }) => `${method} ${apiPrefix}${path}`));
    expect(new Set(operations.map(({ name }) => name)).size).to.equal(allRoutes.length);
  });

  it('names the operations once each, in snake case, under the given tags', () => {
    const ids = operations.map(({ operation }) => operation.operationId as string);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z]+(_[a-z]+)*$/);
    for (const { operation } of operations) expect(tags).to.include(operation.tags[0]);
    expect(document.tags.map(({ name }: Json) => name)).to.include.members(operations.map(({ operation }) => operation.tags[0]));
  });

  for (const { name, operation } of operations) {
    it(`${name} has schema, examples and problems`, () => {
      const [success] = Object.entries<Json>(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
      const content = operation.responses[success ?? '']?.content['application/json'];
      expect(content.schema).to.be.an('object');
      expect(content.example).to.be.an('object');
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        const problems = response.content['application/problem+json'];
        if (!problems) continue;
        expect(problems.schema).to.deep.equal({ $ref: '#/components/schemas/Problem' });
        for (const [code, { value }] of Object.entries<Json>(problems.examples)) {
          expect(value).to.include({ code, status: Number(status) });
        }
      }
      expect(operation.responses).to.include.keys('421', '422', '500', '503');
      if (name.startsWith('post')) expect(operation.responses).to.include.keys('400', '403', '413', '415');
    });
  }

  for (const route of allRoutes) {
    it(`the examples of ${route.operationId} fit their schemas`, () => {
      expect(route.reply.safeParse(route.examples.reply).error).to.equal(undefined);
      if (route.body && route.examples.body !== undefined) {
        expect(route.body.safeParse(route.examples.body).error).to.equal(undefined);
      }
    });
  }

  it('is served as the description of the running build', async () => {
    const api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }));
    const { port } = await api.start();
    const answer = await ask(port, '/openapi.json');
    await api.stop();
    expect(answer.json).to.deep.equal(document);
  });
});

describe('table of errors', () => {
  it('has a problem for every code of the simulator', () => {
    for (const code of errorCodes) expect(problemTable).to.have.property(problemOf[code]);
  });
});
