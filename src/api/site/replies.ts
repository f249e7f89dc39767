import type { z } from 'zod';
import type { Plant } from '../../contract/plant.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteNow } from '../../contract/site.ts';
import { kilo } from '../common/kind-replies.ts';
import { writerReply } from '../common/writer-replies.ts';
import type { siteCutSchema, siteSchema } from './schemas.ts';

const kiloOrNull = (watts: number | null) => (watts === null ? null : kilo(watts));

/** Powers and limits of one scope. */
export function siteReply(plant: Plant, site: SiteNow): z.output<ReturnType<typeof siteSchema>> {
  const { limits, netW, generationW, consumptionW, loadW } = site;
  const by = (name: SiteLimitName) => writerReply(plant, limits[name].setBy);
  return {
    devices: site.devices && [...site.devices],
    net_power_kw: kilo(netW),
    generation_kw: kilo(generationW),
    consumption_kw: kilo(consumptionW),
    load_kw: kilo(loadW),
    export_limit_kw: kiloOrNull(limits.export.limitW),
    export_limit_owner: limits.export.owner,
    export_limit_by: by('export'),
    import_limit_kw: kiloOrNull(limits.import.limitW),
    import_limit_owner: limits.import.owner,
    import_limit_by: by('import'),
    generation_limit_kw: kiloOrNull(limits.generation.limitW),
    generation_limit_owner: limits.generation.owner,
    generation_limit_by: by('generation'),
    load_limit_kw: kiloOrNull(limits.load.limitW),
    load_limit_owner: limits.load.owner,
    load_limit_by: by('load'),
    binding: siteLimitNames.filter((name) => limits[name].binding),
    exceeded: siteLimitNames.filter((name) => limits[name].exceeded),
    owners: site.owners.map(({ owner, limitsW, changedBy }) => ({
      owner,
      export_limit_kw: kiloOrNull(limitsW.export),
      import_limit_kw: kiloOrNull(limitsW.import),
      generation_limit_kw: kiloOrNull(limitsW.generation),
      load_limit_kw: kiloOrNull(limitsW.load),
      changed_by: writerReply(plant, changedBy),
    })),
  };
}

/** The limit that cuts the power of a device; null: none. */
export function siteCutReply(plant: Plant, deviceIndex: number): z.output<ReturnType<typeof siteCutSchema>> | null {
  const cut = plant.siteCut(deviceIndex);
  if (!cut) return null;
  return {
    devices: cut.devices && [...cut.devices],
    limit: cut.limit,
    limit_kw: kilo(cut.limitW),
    owner: cut.owner,
  };
}
