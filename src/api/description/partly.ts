/** Replies of a gateway to requests that some shards have carried out, and others not. */
import { memo } from '../../core/lazy.ts';
import { z } from './zod.ts';

/** Status of such a reply. */
export const partlyStatus = 207;

/** Operations that a gateway sends to all shards. */
export const spreadOperations: ReadonlySet<string> = new Set(
  `set_grid set_grid_event set_environment set_time step_time set_session_generator set_recorder
   set_modbus_messages set_csip_messages set_dnp3_messages enable_modbus disable_modbus enable_csip disable_csip
   enable_ocpp disable_ocpp enable_dnp3 disable_dnp3 set_csip_config connect_csip disconnect_csip reconnect_csip
   set_csip_communication opt_csip_control rediscover_csip poll_csip
   clear_findings name_finding_peer configure_finding_rule add_finding_waiver`.split(/\s+/),
);

const count = z.int().min(0);

/** A shard that has not carried a request out. */
const failedShardSchema = memo(() =>
  z
    .strictObject({
      shard: z.string().openapi({ description: 'Name of the shard.' }),
      first: count.openapi({ description: 'Index of its first device.' }),
      count: count.openapi({ description: 'Devices that it had when it was seen last.' }),
      status: z.int().openapi({ description: 'Status of its answer, or that of the problem.' }),
      code: z.string().openapi({ description: 'Code of the problem.' }),
      detail: z.string().openapi({ description: 'The problem in a sentence.' }),
    })
    .openapi('FailedShard'),
);

/** @param reply that of the operation */
export const partlySchema = (reply: z.ZodType) =>
  z.strictObject({
    applied: z.array(z.string()).openapi({ description: 'Shards that have carried out the request.' }),
    failed: z
      .array(failedShardSchema())
      .openapi({ description: 'Shards that have not: nothing is undone, so send the request to them again.' }),
    reply,
  });

/** @param reply example of the operation */
export const partlyExample = (reply: unknown) => ({
  applied: ['a'],
  failed: [
    {
      shard: 'b',
      first: 1000,
      count: 1000,
      status: 503,
      code: 'shard-lost',
      detail: 'The shard "b" with the devices 1000..1999 does not answer; it was seen 4.2 s ago.',
    },
  ],
  reply,
});
