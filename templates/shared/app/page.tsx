import { ArrowUp, LayoutDashboard, MousePointerClick, Sparkles, Wand2 } from "lucide-react";

const ideas = [
  { icon: LayoutDashboard, title: "Describe it", text: "“A pricing page with three plans and a yearly switch.”" },
  { icon: Wand2, title: "Change it", text: "“Warmer colours, and an FAQ below.”" },
  { icon: MousePointerClick, title: "Or edit it by hand", text: "Open Edit, click any element here, and style it." },
];

export default function Page() {
  return (
    <main className="relative isolate flex min-h-dvh flex-col items-center justify-center overflow-hidden px-6 py-16">
      <div
        aria-hidden="true"
        className="absolute inset-0 -z-10 [background-image:radial-gradient(var(--border)_1px,transparent_1px)] [background-size:26px_26px] [mask-image:radial-gradient(ellipse_at_center,black_15%,transparent_70%)]"
      />
      <div
        aria-hidden="true"
        className="absolute top-1/2 left-1/2 -z-10 size-[44rem] -translate-x-1/2 -translate-y-2/3 rounded-full bg-primary/20 blur-[120px]"
      />
      <span className="inline-flex items-center gap-2 rounded-full border bg-card/60 px-3 py-1 text-xs font-medium text-muted-foreground backdrop-blur">
        <span className="relative flex size-2">
          <span className="absolute inline-flex size-full animate-ping rounded-full bg-chart-2 opacity-60" />
          <span className="relative inline-flex size-2 rounded-full bg-chart-2" />
        </span>
        Your app is running
      </span>
      <h1 className="mt-7 bg-gradient-to-b from-foreground to-foreground/60 bg-clip-text pb-2 text-center text-4xl font-semibold tracking-tight text-transparent sm:text-6xl">
        Describe what you want
      </h1>
      <p className="mt-3 max-w-lg text-center text-base text-muted-foreground sm:text-lg">
        This page is empty. Describe your screen in the chat, and watch the agent build it.
      </p>
      <div className="mt-10 flex w-full max-w-xl items-center gap-3 rounded-2xl border bg-card/70 p-3 pl-5 shadow-2xl shadow-primary/10 backdrop-blur">
        <Sparkles className="size-5 shrink-0 text-primary" />
        <p className="min-w-0 flex-1 truncate text-sm text-muted-foreground sm:text-base">
          A calm landing page for a coffee roastery
          <span className="ml-0.5 inline-block h-[1.1em] w-px translate-y-[0.2em] animate-pulse bg-foreground" />
        </p>
        <span className="flex size-9 items-center justify-center rounded-xl bg-primary text-primary-foreground">
          <ArrowUp className="size-4" />
        </span>
      </div>
      <ul className="mt-14 grid w-full max-w-4xl gap-4 sm:grid-cols-3">
        {ideas.map(({ icon: Icon, title, text }) => (
          <li key={title} className="rounded-xl border bg-card/50 p-5 backdrop-blur transition-colors hover:bg-card">
            <Icon className="size-5 text-primary" />
            <p className="mt-4 text-sm font-medium">{title}</p>
            <p className="mt-1 text-sm text-muted-foreground">{text}</p>
          </li>
        ))}
      </ul>
    </main>
  );
}
