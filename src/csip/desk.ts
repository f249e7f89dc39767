/** What is sent to the server for one EndDevice: responses to events, and reports about its devices. */
import type { ServerDesk } from './client.ts';
import type { DerHrefs, ReportHrefs, Reporter } from './report/reporter.ts';
import type { ResponseSender } from './response-sender.ts';
import type { DER } from './xml/documents.ts';
import type { EndDeviceFacts, Located, ServerFacts } from './walk/model.ts';
import { resolved } from './walk/reader.ts';

type LinkName = keyof { [Name in keyof DER as Name extends `DER${string}Link` ? Name : never]: true };

const derLinks = {
  capability: 'DERCapabilityLink',
  settings: 'DERSettingsLink',
  status: 'DERStatusLink',
  availability: 'DERAvailabilityLink',
} as const satisfies Readonly<Record<keyof DerHrefs, LinkName>>;

function linked(link: { readonly href?: string | undefined } | undefined, base: string): string | null {
  return link?.href === undefined ? null : resolved(link.href, base);
}

function derHrefs({ document, base }: Located<DER>): DerHrefs {
  const of = (name: keyof DerHrefs) => linked(document[derLinks[name]], base);
  return {
    capability: of('capability'),
    settings: of('settings'),
    status: of('status'),
    availability: of('availability'),
  };
}

/** The places of the server for reports of an EndDevice. */
export function reportHrefs({ document, base, ders }: EndDeviceFacts, server: ServerFacts | null): ReportHrefs {
  return {
    ders: ders.map(derHrefs),
    logEventList: linked(document.LogEventListLink, base),
    mirrorUsagePointList: server === null ? null : linked(server.document.MirrorUsagePointListLink, server.base),
    deviceInformation: linked(document.DeviceInformationLink, base),
    deviceStatus: linked(document.DeviceStatusLink, base),
    powerStatus: linked(document.PowerStatusLink, base),
    connectionPoint: linked(document.ConnectionPointLink, base),
    postRateS: document.postRate ?? null,
  };
}

const nowhere: ReportHrefs = {
  ders: [],
  logEventList: null,
  mirrorUsagePointList: null,
  deviceInformation: null,
  deviceStatus: null,
  powerStatus: null,
  connectionPoint: null,
  postRateS: null,
};

export interface DeskOptions {
  readonly responses: ResponseSender;
  /** made with the first EndDevice that is found: before, nothing is known to report to */
  readonly makeReporter: () => Reporter;
}

export class Desk implements ServerDesk {
  readonly responses: ResponseSender;
  readonly #options: DeskOptions;
  #reporter: Reporter | null = null;
  #closed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.responses = options.responses;
  }

  /** null: no EndDevice was found yet */
  get reporter(): Reporter | null {
    return this.#reporter;
  }

  follow(facts: EndDeviceFacts | null, server: ServerFacts | null): void {
    if (this.#closed) return;
    if (facts === null) {
      this.#reporter?.follow(nowhere);
      return;
    }
    this.#reporter ??= this.#options.makeReporter();
    this.#reporter.follow(reportHrefs(facts, server));
  }

  reachable(yes: boolean): void {
    this.responses.reachable(yes);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.responses.close();
    this.#reporter?.stop();
    return Promise.resolve();
  }
}
