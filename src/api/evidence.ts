/** One document about both sides: findings, answers, differences between protocols, refusals and changes. */
import type { Device } from '../contract/device.ts';
import { timelineEntryJson } from '../contract/timeline.ts';
import { reportOn } from '../core/findings/report.ts';
import type { GroupReport } from '../core/findings/report.ts';
import { severities } from '../core/findings/rule.ts';
import type { Severity } from '../core/findings/rule.ts';
import { memo, lazily } from '../core/lazy.ts';
import type { DeviceEvidence, EvidenceJson } from '../evidence/report/document.ts';
import { answerSchema, judgedAnswers } from './answers.ts';
import { quantitiesOf } from './consistency.ts';
import { selectedDevice } from './common/device-replies.ts';
import { deviceIndex, deviceParam } from './common/schemas.ts';
import { z } from './description/zod.ts';
import { documentHeaders, documentOf, findingMedia } from './findings/documents.ts';
import { documentHead, peerReport } from './findings/members.ts';
import type { RouteContext } from './http/context.ts';
import { Answer, route, TextReply } from './http/route.ts';
import type { Route } from './http/route.ts';
import { changeSchema, changesOf } from './registers.ts';
import { entrySchema } from './timeline/members.ts';

/** Maximum number of devices in a document of the whole site. */
const maxDevices = 100;
const formats = ['html', 'junit', 'json'] as const;

/** Loaded for the first document. */
const writers = lazily(async () => ({
  ...(await import('../evidence/report/html.ts')),
  ...(await import('../evidence/report/junit.ts')),
}));

const query = z.strictObject({
  device: deviceParam.optional().openapi({ description: `Only this device; default: the first ${maxDevices}.` }),
  format: z.enum(formats).optional().openapi({ description: 'Default `json`.' }),
  fail_on: z.enum(severities).optional().openapi({
    description: 'Mildest severity of a finding that JUnit XML calls a failure; default `violation`.',
  }),
});

const scalar = z.union([z.number(), z.string(), z.boolean(), z.null()]);

const differenceSchema = z
  .strictObject({
    quantity: z.string().openapi({ description: 'As in `consistency`, as are the other members.' }),
    unit: z.string().nullable().openapi({ description: 'Null: none.' }),
    reference: scalar.openapi({ description: 'Value of the first presentation, the register.' }),
    protocol: z.string().openapi({ description: 'Presenter that shows another value.' }),
    place: z.string().openapi({ description: 'Where it shows the value.' }),
    value: scalar.openapi({ description: 'Its value.' }),
    cause: z.string().openapi({ description: 'Why it differs.' }),
    explanation: z.string().nullable().openapi({ description: 'In a sentence; null: none.' }),
  })
  .openapi('EvidenceDifference');

const documentSchema = memo(() =>
  z
    .strictObject({
      format: z.string().openapi({ description: '`derbench-evidence/1`.' }),
      ...documentHead(),
      peers: z.array(peerReport.schema()).openapi({ description: 'The report on each peer.' }),
      devices: z
        .array(
          z
            .strictObject({
              device_index: deviceIndex,
              name: z.string().openapi({ description: 'Name of the device.' }),
              quantity_count: z.int().openapi({ description: 'Quantities that were compared.' }),
              differences: z.array(differenceSchema).openapi({ description: 'Beyond rounding.' }),
              answers: z.array(answerSchema()).openapi({ description: 'Answered commands, those not done first.' }),
              unrecorded: z
                .array(
                  z.strictObject({
                    protocol: z.string().openapi({ description: 'The protocol.' }),
                    reason: z.string().openapi({ description: 'Why.' }),
                  }),
                )
                .openapi({ description: 'Protocols whose commands are not known, and why.' }),
              changes: z.array(changeSchema()).openapi({ description: 'Points that differ from their start value.' }),
            })
            .openapi('DeviceEvidence'),
        )
        .openapi({ description: 'By device.' }),
      more_devices: z.int().min(0).openapi({ description: 'Devices that are left out.' }),
      refusals: z.array(entrySchema()).openapi({ description: 'Refused requests, writes and calls of the timeline.' }),
    })
    .openapi('Evidence'),
);
type Document = z.output<ReturnType<typeof documentSchema>>;

const rank = (done: boolean | null) => (done === false ? 0 : done === null ? 1 : 2);

async function evidenceOn(ctx: RouteContext, device: Device) {
  const quantities = await quantitiesOf(ctx, device);
  const differences = quantities.flatMap(({ quantity, unit, presentations: [reference, ...others] }) =>
    others.flatMap(({ protocol, place, value, agrees, cause, explanation }) =>
      agrees === false
        ? [{ quantity, unit, reference: reference?.value ?? null, protocol, place, value, cause, explanation }]
        : [],
    ),
  );
  const { answers, protocols } = await judgedAnswers(ctx, device);
  return {
    device_index: device.index,
    name: device.name,
    quantity_count: quantities.length,
    differences,
    answers: answers.toSorted((a, b) => rank(a.done) - rank(b.done)),
    unrecorded: protocols.flatMap(({ protocol, recorded, reason }) =>
      recorded ? [] : [{ protocol, reason: reason ?? '' }],
    ),
    changes: changesOf(device, ctx.plant),
  } satisfies DeviceEvidence;
}

async function documentText(
  ctx: RouteContext,
  evidence: EvidenceJson,
  reports: readonly GroupReport[],
  { format, failOn }: { readonly format: (typeof formats)[number]; readonly failOn: Severity },
): Promise<string> {
  if (format === 'json') {
    const peers = reports.map((report) => peerReport.reply(report, ctx));
    return `${JSON.stringify({ ...evidence, peers }, null, 2)}\n`;
  }
  const { evidencePage, evidenceJunit } = await writers();
  return format === 'html' ? evidencePage(evidence) : evidenceJunit(evidence, failOn);
}

export const evidenceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/evidence',
    tag: 'Core',
    operationId: 'get_evidence',
    summary: 'Everything that shows how both sides behaved, as one document',
    description:
      'Findings about peers, commands that were answered and not done, quantities that differ between protocols, refusals and ' +
      'points that differ from their start value: JSON, one page without scripts, or JUnit XML, where a broken rule, a command ' +
      'that was not done and a difference that a fault causes or nothing explains are failures.',
    query,
    reply: documentSchema,
    problems: ['unknown-device', 'shortage'],
    otherMedia: ['application/xml', 'text/html'],
    async handle(ctx, { query: { device: index, format = 'json', fail_on: failOn = 'violation' } }) {
      const { plant, findings, timeline } = ctx;
      const chosen = index === undefined ? plant.devices.slice(0, maxDevices) : [selectedDevice(ctx, index)];
      const devices = [];
      // each device costs about a millisecond, so that others have their turn between two
      for (const device of chosen) devices.push(await ctx.share.run(() => evidenceOn(ctx, device)));
      const reports = findings.peers.groups().map((group) => reportOn(findings, group));
      const evidence = {
        ...(await documentOf(ctx, reports)),
        format: 'derbench-evidence/1',
        devices,
        more_devices: index === undefined ? plant.devices.length - chosen.length : 0,
        refusals: timeline
          .list({ kinds: ['refusal'] })
          .map((entry) => timelineEntryJson(entry, (t) => plant.dateMs(t))),
      } satisfies EvidenceJson;
      const text = await documentText(ctx, evidence, reports, { format, failOn });
      return new Answer<Document>(new TextReply(findingMedia[format], text), {
        headers: documentHeaders(format, text),
      });
    },
  }),
];
