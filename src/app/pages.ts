import type { RequestListener } from 'node:http';
import type { ApiInfo } from '../api/openapi/document.ts';
import { openDocuments } from '../api/openapi/routes.ts';
import type { FileHandler } from '../api/file-handler.ts';
import { openSystemRoutes, type SystemRouteOptions } from '../api/system-routes.ts';
import { openAssets } from '../console/assets.ts';
import type { OpenConsole } from '../console/server.ts';
import { openFramework } from '../http/framework.ts';
import { serverLimits } from '../http/server.ts';
import { serveNotifications } from '../payments/payments.ts';
import type { Log } from '../telemetry/log.ts';
import { type ConsoleOptions, mountConsole, openPageRoutes, type PageParts } from './console.ts';

export interface PageOptions extends ConsoleOptions {
  /** The folder of the built console; undefined or missing: there is no console. */
  readonly consoleFolder?: string | undefined;
  /** The folder of the built documents; undefined or missing: there are none below `/docs`. */
  readonly docsFolder?: string | undefined;
}

/** What the pages show and call, beside what the console's routes need. */
export interface PageSources extends PageParts, Omit<SystemRouteOptions, 'otherwise'> {
  readonly log: Log;
  readonly files: FileHandler;
  readonly about: ApiInfo;
}

export interface OpenPages extends OpenConsole {
  readonly serve: RequestListener;
}

/** Opens everything that the gateway serves beside the API. */
export async function openPages(sources: PageSources, options: PageOptions): Promise<OpenPages> {
  const { log, database, payments, endpoints, unreadable } = sources;
  const framework = openFramework(serverLimits, unreadable);
  sources.files.openOn(framework);
  serveNotifications(framework, payments, (error) => log.error('bug', error, {}));
  const mounted = await mountConsole(
    framework,
    { database, log, pages: openPageRoutes(sources) },
    options,
  );
  openDocuments(framework, endpoints, sources.about, options.docsFolder);
  const { page: otherwise } = openAssets(framework, options.consoleFolder, options.publicUrl);
  openSystemRoutes(framework, { ...sources, otherwise });
  await framework.ready();
  return {
    serve: (request, response) => framework.routing(request, response),
    routes: mounted.routes,
    drain: (waitMs) => mounted.drain(waitMs),
  };
}
