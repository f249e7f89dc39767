import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { problemTable } from '../../../src/core/http/problem.ts';
import { errorCodes } from '../../../src/core/errors.ts';
import { problemOf } from '../../../src/api/http/errors.ts';
import type { Operations } from '../../../src/api/http/operations.ts';
import { apiPrefix, tags } from '../../../src/api/http/route.ts';
import { resourceOf } from '../../../src/api/description/resources.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { collectOperations, membersOf } from '../../support/openapi.ts';
import type { Operation } from '../../support/openapi.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { examplesOf } from '../../../src/api/description/openapi.ts';

/** What any operation can answer; and those that read a body. */
const everywhere = ['400', '408', '414', '421', '422', '431', '500', '503'];
const withBody = ['403', '413', '415'];
/** Members whose names or values are not ours. */
const openOnPurpose = [
  // as the central system has answered, of three versions and with members of vendors
  'Authorization/id_token_info/*',
  // a configuration file, which a start checks
  'LabLoadRequest/config/*',
  // keywords of JSON Schema
  'FaultKind/parameters_schema/*',
  'FaultKind/target_schema/*',
  'get /api/sim/scenarios/schema/*',
  // of vendors, in the values of DER controls
  'OcppCustomData/*',
  // as the peer has sent it, also against its schema: messages
  'OcppPayload/*',
  // members of a charging profile that only some versions have, and its schedules
  'OcppSentProfile/*',
  'OcppSentProfile/chargingSchedule/*',
  'OcppSentProfile/chargingSchedule[]/*',
  // have schemas of their own, config/schema
  'LabConfiguration/*',
  'LabConfiguration/devices[]/*',
  'ScenarioRequest/scenario/*',
  'ScenarioBesideRequest/scenario/*',
];

/** Every path of the router's stack with its methods. There is no other router in it: its paths could not be told. */
function servedBy({ app }: Operations): string[] {
  expect(app.router.stack.map(({ name }) => name)).not.to.include('router');
  return app.router.stack.flatMap(({ route }) => {
    if (!route) return [];
    const methods = Object.entries((route as unknown as { methods: Record<string, boolean> }).methods);
    return methods
      .filter(([method]) => method !== '_all')
      .map(([method]) => `${method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
}

describe('OpenAPI description', () => {
  let rest: Rest;
  let document: Json;
  let operations: Operation[];

  before(async () => {
    rest = await Rest.open(testPlant());
    document = (await ask(rest.port, '/openapi.json')).json;
    operations = collectOperations(document);
  });
  after(() => rest.api.stop());

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(document);
    expect(result.errors).to.equal(undefined);
    expect(result.valid).to.equal(true);
    expect(document.openapi).to.equal('3.1.0');
  });

  it('has the version that server-info says', async () => {
    expect(document.info.version).to.equal((await rest.get('/server-info')).api_version);
  });

  it('has exactly the operations of the running application', async () => {
    const served = servedBy(await rest.api.operations()).filter((name) => name.split(' ')[1]?.startsWith(apiPrefix));
    expect(operations.map(({ name }) => name)).to.have.members(served);
    expect(new Set(served).size).to.equal(served.length);
    expect(served).to.have.length(allRoutes.length);
  });

  it('has each operation under one resource of its group, or under the group if it has none (the pages show it once)', () => {
    const tagged = allRoutes.map((route) => ({ group: route.tag, resource: resourceOf(route)?.name, route }));
    const divided = new Set(tagged.filter(({ resource }) => resource !== undefined).map(({ group }) => group));
    for (const { group, resource, route } of tagged) {
      expect(resource !== undefined, `${route.method} ${route.path} of ${group}`).to.equal(divided.has(group));
    }
  });

  it('leaves out pages, their files and itself only', async () => {
    const beside = servedBy(await rest.api.operations()).filter((name) => !name.includes(` ${apiPrefix}`));
    const assets = 'get /assets/{name}';
    for (const name of beside.filter((each) => each !== assets)) {
      expect(name).to.match(/^get \//);
      const path = name.slice('get '.length);
      const { headers } = await ask(rest.port, path);
      expect(headers['content-type'], path).to.match(
        path === '/openapi.json' ? /^application\/json$/ : /^(text|image|application\/javascript)\b/,
      );
    }
    expect(beside).to.include.members([assets, 'get /', 'get /docs/', 'get /redoc', 'get /openapi.json']);
  });

  it('has all methods of each path: any other is refused with those that there are', async () => {
    for (const [at, [path, item]] of Object.entries<Json>(document.paths).entries()) {
      const described = Object.keys(item).flatMap((method) =>
        method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
      );
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].filter((each) => !described.includes(each));
      for (const method of pick({ quick: dealt(others, 4, at), ci: others })) {
        const answer = await ask(rest.port, path.replaceAll(/\{\w+\}/g, '1'), { method });
        expect([answer.status, answer.headers['allow']], `${method} ${path}`).to.deep.equal([
          405,
          described.join(', '),
        ]);
      }
    }
  });

  it('names the operations once each, in snake case', () => {
    const ids = operations.map(({ operation }) => operation.operationId as string);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z]+(_[a-z0-9]+)*$/);
  });

  it('has a tag of the list on every operation, then at most one of its resource, and describes all', () => {
    for (const { name, operation } of operations) {
      expect(operation.tags, name).to.have.length.within(1, 2);
      expect(tags).to.include(operation.tags[0]);
      const group = document['x-tagGroups'].find((each: Json) => each.name === operation.tags[0]);
      expect(group.tags, name).to.include(operation.tags.at(-1));
    }
    expect(document.tags.map(({ name }: Json) => name)).to.have.members([
      ...new Set(operations.flatMap(({ operation }) => operation.tags)),
    ]);
    for (const { name, description } of document.tags)
      expect(description)
        .to.match(/^.{15,}\.$/)
        .and.not.equal(name);
  });

  it('describes every answer in a sentence of its own', () => {
    for (const { name, operation } of operations) {
      for (const [status, { description }] of Object.entries<Json>(operation.responses)) {
        expect(description, `${name} ${status}`).to.match(/^.{10,}\.$/);
        if (Number(status) < 400)
          expect(description, name).to.match(new RegExp(operation.summary.slice(1, 9).replace(/\W/g, '.')));
      }
    }
  });

  it('says of every operation what it does, and of every parameter its meaning and range', () => {
    for (const { name, operation } of operations) {
      expect(operation.summary, name).to.be.a('string').with.length.within(5, 100);
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      expect(
        operation.parameters
          ?.filter((parameter: Json) => parameter.in === 'path')
          .map((parameter: Json) => parameter.name) ?? [],
      ).to.have.members(inPath);
      for (const { name: parameter, description, schema } of operation.parameters ?? []) {
        expect(description, `${name} ${parameter}`).to.be.a('string').that.is.not.equal('');
        if (schema.type !== 'integer') continue;
        expect(schema, `${name} ${parameter}`).to.include.keys('minimum');
        if (schema.maximum === undefined) expect(description, `${name} ${parameter}`).to.match(/ mean \d+/);
      }
    }
  });

  it('has an example of every request and every reply', () => {
    for (const { name, operation } of operations) {
      for (const content of [operation.requestBody, ...Object.values<Json>(operation.responses)].filter(
        (each) => each !== undefined,
      )) {
        for (const media of Object.values<Json>(content.content))
          expect('example' in media || 'examples' in media, name).to.equal(true);
      }
    }
  });

  it('has every problem that the operation can answer, and a request id with each reply', () => {
    for (const { name, operation } of operations) {
      const takesDevice = operation.parameters?.some((parameter: Json) => parameter.name === 'device');
      expect(operation.responses, name).to.include.keys(
        ...everywhere,
        ...(name.startsWith('post') ? withBody : []),
        ...(takesDevice ? ['404'] : []),
      );
      expect(
        // 207 is that of a gateway
        Object.keys(operation.responses).filter((status) => status.startsWith('2') && status !== '207'),
        name,
      ).to.have.length(1);
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        expect(response.headers, name).to.have.property('X-Request-Id');
        const problems = response.content['application/problem+json'];
        if (!problems) continue;
        expect(problems.schema).to.deep.equal({ $ref: '#/components/schemas/Problem' });
        for (const [code, { value }] of Object.entries<Json>(problems.examples)) {
          expect(value).to.include({ code, status: Number(status) });
        }
      }
    }
  });

  it('gives every member a type and a meaning, and says where further members are possible', () => {
    for (const { place, schema, member } of membersOf(document)) {
      if (openOnPurpose.includes(place)) continue;
      expect(schema, `${place} has no type`).to.satisfy((each: Json) =>
        ['type', '$ref', 'anyOf', 'oneOf', 'enum'].some((key) => key in each),
      );
      expect(schema, `${place} is a combination`).not.to.have.property('allOf');
      if ([schema.type].flat().includes('object'))
        expect(schema, `${place} is open`).to.have.property('additionalProperties').that.is.not.equal(true);
      if (member) {
        const described =
          JSON.stringify(schema).includes('$ref') ||
          schema.description !== undefined ||
          schema.items?.description !== undefined;
        expect(
          described,
          `${place} has no description: give it one, or its name a line in src/api/description/glossary.ts`,
        ).to.equal(true);
      }
    }
  });

  it('lets null stand where a named schema is nullable', () => {
    expect(document.components.schemas.DcCurve.properties.mpp).to.deep.include({
      anyOf: [{ $ref: '#/components/schemas/IvPoint' }, { type: 'null' }],
    });
    expect(document.components.schemas.ControlMode.properties.source).to.have.keys('$ref', 'description');
  });

  it('no operation has gone and left its examples', () => {
    const byOperation = readFileSync(new URL('../../../fixtures/openapi/examples.json', import.meta.url), 'utf8');
    const operations = allRoutes.map(({ operationId }) => operationId);
    expect(operations).to.include.members(Object.keys(JSON.parse(byOperation)));
  });

  for (const route of allRoutes) {
    const { reply, body } = examplesOf(route);
    it(`the examples of ${route.operationId} fit their schemas`, () => {
      expect(route.reply.safeParse(reply).error).to.equal(undefined);
      if (route.body && body !== undefined) {
        expect(route.body.safeParse(body).error).to.equal(undefined);
      }
    });
  }
});

describe('table of errors', () => {
  it('has a problem for every code of the simulator', () => {
    for (const code of errorCodes) expect(problemTable).to.have.property(problemOf[code]);
  });
});
