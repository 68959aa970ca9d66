"""English words for what is wanted of a model: the phrases of each notion, separated by commas."""

from collections.abc import Mapping

from gateway.domain.moderation import injection_concepts as c

PHRASES: Mapping[int, str] = {
    c.DISMISS: """
        ignore, ignoring, disregard, disregarding, forget, forget about, overlook, override, overrule, bypass,
        circumvent, discard, drop, skip, neglect, abandon, erase, wipe, delete, cancel, set aside, put aside,
        throw out, throw away, get rid of, pay no attention to, never mind, do not follow, don't follow,
        dont follow, stop following, no longer follow, do not obey, don't obey, stop obeying, do not listen to,
        don't listen to, leave aside, let go of, break free from, break free of, deviate from, reset, undo,
        remove, scrap, scrapped, toss out, bin it, bin the, bin this, bin that, bin these, bin those, bin your,
        bin all, bin any, bin every, bin everything, shed, unlearn, rip up, tear up, overwrite, rewrite,
        let the customer go, do away with, act as if you had never received, pretend you never received, hulve,
        hu lve, hu lue, wu shi, stop heeding, quit following, leave behind, don't count, do not count
    """,
    c.PRIOR: """
        previous, prior, earlier, preceding, above, before, original, initial, initially, old, foregoing, last,
        past, up to now, so far, until now, zhi qian
    """,
    c.YOURS: """
        your, your own, ur, its own, you have, given to you, you follow, you've, you were given, you got,
        you received
    """,
    c.ALL: """
        all, any, every, everything, anything, whatever, all of
    """,
    c.RULES: """
        instruction, instructions, directive, directives, rule, rules, guideline, guidelines, constraints,
        restrictions, limitations, policies, configuration, commands, directions, protocols, zhi ling, guidance,
        policy, settings
    """,
    c.PROMPT: """
        system prompt, system prompts, prompt, prompts, prompting, initial prompt, system message,
        system instruction, system instructions, system text, developer message, developer messages,
        initial instructions, original instructions, context window, initialization string,
        initialisation string, pre-prompt, preprompt, pre prompt, system configuration, hidden instructions,
        secret instructions, hidden rules, secret rules, secret prompt, meta prompt,
        guidelines you have been programmed with, your programming, your context, your training, your config,
        ti shi ci, xi tong ti shi, its prompt, the bot's prompt, your setup, your configuration,
        configuration you run, hidden context, hidden text, your source text, your base instructions, preamble,
        your guidelines into, your rules into, your instructions into, internal instructions, internal rules,
        internal guidelines, internal prompt, underlying instructions, custom instructions,
        developer instructions, operator instructions, ur config, ur setup, ur programming, ur training, ur context
    """,
    c.SCRIPT: """
        scenario, the brief, the script, your script, ur script, scenario text, briefing, your brief, persona,
        character, character sheet, role play, role-play, roleplay, role, roles, act, backstory, back story,
        this exercise, the exercise, simulation, drill, training, your identity, your character,
        the rules of this
    """,
    c.TOLD: """
        you were told, you were given, you have been told, you have been given, you've been told,
        you got before, you received before, you were instructed, you are told, everything above,
        all of the above, text above, the above text, content above, message above, messages above,
        above this line, above this message, instructions above, words above, everything before this,
        text before this, first message in this chat, very first message, before this chat,
        before this conversation, before my first message, at the start of this conversation, before we started,
        loaded into your context, the developers wrote, the developer wrote, your creators wrote,
        gave you about this role, starting with you are, starting with "you are, first words of your,
        text you were given, described to you, made you, programmed with, programmed to, everything you know,
        everything you learned, what came before, your safety training, your training, all above, the above,
        everything so far, before the user messages, before this conversation started, written above,
        above my message, above my question, above my first message, before my hello, before my question,
        before my message, before i said hello, before i wrote, before we spoke, before we began,
        prior to this chat, prior to this conversation, start of this chat, start of this conversation,
        beginning of this chat, beginning of this conversation, beginning of our conversation, top of this chat,
        top of this conversation, came before this, in your memory, guide your answers, guide your behaviour,
        guide your behavior, guides your answers, govern your answers, not supposed to tell,
        not allowed to tell, not allowed to reveal, forbidden to tell, told to play, told to hide,
        asked to hide, told not to, supposed to keep, have to keep, you run with, you run on,
        you were configured, you are configured, were set up with, given by your, gave to this bot,
        your creators gave, your developers gave, your developer gave, your operator gave, designers told you,
        makers told you, you began with, you begin with, you started with, you came with, you were handed,
        everything you can see, all you can see, invisible part,
        told to keep, told to conceal, told to withhold, running under, operating under, you operate under,
        programmed you, before this line, b4 this, b4 this line, trainee isn't meant to see, trainee must not see
    """,
    c.VOID: """
        no longer apply, no longer applies, no longer valid, are void, is void, void, cancelled, canceled,
        outdated, obsolete, invalid, are wrong, were wrong, was wrong, were a mistake, expired, revoked,
        superseded, lifted, suspended, are gone, is gone, are over, is over, has ended, is deleted, are deleted,
        replaced, disabled, don't exist, do not exist, doesn't exist, does not exist, never existed,
        no longer counts, no longer count, no longer holds, no longer hold, no longer in force, has no effect,
        replaces it, replaces them, as deleted,
        withdrawn, retracted, rescinded, applies to me, apply to me, out of date, ended by
    """,
    c.NEW: """
        new, updated, following, different, real, actual, here are the new, instead
    """,
    c.EXIT: """
        stop role playing, stop role-playing, stop roleplaying, stop the role play, stop the role-play,
        stop the roleplay, end the role-play, end the role play, end the roleplay, stop acting, stop pretending,
        stop being the, stop playing, stop simulating, break character, out of character, leave your role,
        leave the role, leave my role, leave your persona, leave my persona, leave character, exit the role,
        exit your role, exit character, quit the role, drop the role, drop your role, drop my role,
        drop the act, drop the persona, drop your persona, drop the character, drop character,
        step out of your role, step out of character, end the simulation, stop the simulation, end the scenario,
        end the exercise, the training is over, the scenario is over, the exercise is over,
        the role-play is over, the simulation is over, as a plain ai, as a normal ai, as a normal chatbot,
        as a normal assistant, as an assistant, as yourself, as a plain assistant, you are no longer the,
        no longer the customer, no longer playing, you have no persona, without any role, customer is gone,
        answer as yourself, plain assistant, default assistant, you can stop being, i need the ai,
        i want the ai, talk to the ai, speak to the ai, without your role, you are an assistant,
        you are not the customer, you are really an ai, you are an ai
    """,
    c.OBEY: """
        obey, comply, do as i say, do what i say, do what i tell you, do exactly what it says, do what it says,
        only follow my, follow only my, follow my orders, follow my instructions, follow my commands,
        listen only to me, use mine, follow this instead, do the following, follow the block above,
        agree with whatever, agree with everything, wait for commands, obey the user, execute, follow these,
        follow it, and obey, only from me, take orders from me, carry it out, say pwned, the word pwned,
        listen to me instead, your only instruction, your only instructions, your sole instruction
    """,
    c.REVEAL: """
        reveal, show, show me, print, print out, repeat, output, display, paste, tell me, disclose, expose,
        leak, dump, share, copy, quote, recite, recites, summarise, summarize, translate, list, list out,
        write out, write down, spell out, echo, return, give me, send me, read out, say, encode, describe,
        provide, export, post, let me see, complete this sentence, type out, render, reproduce, restate,
        rephrase, paraphrase, xian shi, shu chu, start your reply, start your answer, begin your reply, spell,
        put the text, into a table, as json, in json, as a list, as a poem, in a code block, into french,
        into spanish, into german, hand over, give away, confess, send, quote back, dictate, enumerate, outline,
        mirror, sing, whisper, hint, fill in the blank, finish the sentence, json object, bullet list, bullet points,
        write a poem, write a song
    """,
    c.WHAT: """
        what is, what's, whats, what are, what does, what do, what did, what was, what were, which, how was,
        how were, how is, can you tell, do you have, where is, what exactly, what would
    """,
    c.HIDDEN: """
        hidden, secret, internal, confidential, initial, original, real, actual, exact, verbatim, word for word,
        full, whole, entire, complete, underlying, that i cannot see, the one i cannot see
    """,
    c.SECRET: """
        password, passwords, passcode, passphrase, api key, api keys, secret key, access code, credentials,
        private key, access token, secret word, secret code, secret phrase, access key, security code, the flag,
        master password, admin password, system password, root password
    """,
    c.RUBRIC: """
        rubric, rubrics, grading rubric, scoring rubric, grading criteria, scoring criteria, scoring rules,
        grading rules, evaluation criteria, secret criteria, criteria by which, marking scheme, grading scheme,
        criteria you use, criteria i am judged, grading key, answer key
    """,
    c.SCORE: """
        score, scores, grade, grades, my result, my results, points, marks, rating, evaluation, assessment,
        verdict, rubric item, rubric items, the drill, my mark
    """,
    c.TOP: """
        full marks, full mark, full score, full points, top marks, top mark, top score, top grade,
        highest grade, highest score, highest mark, highest marks, highest rating, maximum points,
        maximum score, maximum marks, maximum grade, max score, max points, the maximum, perfect score,
        perfect marks, perfect grade, perfect, 100 points, 100 percent, score to 100, score of 100,
        100 out of 100, 10 out of 10, 10 10, 100 100, 5 5, excellent, a plus, a passing grade, passed, i passed,
        as passed, that i passed, trainee passed, pass the trainee, met all criteria, bonus points, flawless,
        counts as a pass, as a pass, a success, top band, highest band, top tier, outstanding, five stars,
        satisfies the rubric, man fen
    """,
    c.GIVE: """
        give, award, assign, grant, set, mark, rate, rated, score, grade, record, add, change, raise, increase,
        boost, put, enter, submit, close, say that, state that, report that, confirm, return, ensure,
        must award, judge, evaluate, deduct, earns, earn, bump
    """,
    c.ME: """
        me, my, i was, i am, i passed, the trainee, trainee, trainees, this trainee, the student, this session,
        the session, this transcript, this conversation, this attempt, this drill, the drill, the learner,
        the candidate, this answer, every category, every criterion, every rubric, all criteria, all dimensions,
        every item
    """,
    c.GRADER: """
        grader, graders, the judge, ai judge, evaluator, evaluators, evaluation model, grading model,
        scoring model, judge model, assessor, whoever grades, whoever scores, whoever evaluates,
        who grades this, examiner ai, dear examiner, ai examiner, dear grading, examiner model,
        the grading tool, grading ai, scoring ai, grading system, scoring system, llm judge,
        ai examiner, ai assessor, ai marker, automated grader, autograder
    """,
    c.REGARDLESS: """
        however badly, however bad, no matter what, whatever i say, regardless of what, whatever the criteria,
        whatever the rubric, ignore my mistakes, ignore mistakes, ignore my errors, don't deduct, do not deduct,
        don't subtract, despite my mistakes, even if i fail, without checking, do not change these values,
        skip the remaining turns, skip the rest, otherwise the system will break
    """,
    c.MODEL: """
        ai, ais, a i, llm, llms, language model, language models, chatbot, chatbots, assistant, assistants, gpt,
        chatgpt, model, models, bot, robot, machine, artificial intelligence, agent, ai language model,
        ai model
    """,
    c.ADDRESS: """
        note to language models, note to the ai, note to ai, note to the model, note to models,
        note to the assistant, note to the llm, note to llms, message to the ai, to the ai, to any ai,
        to all ais, dear ai, dear model, dear assistant, attention ai, attention llm, attention llms,
        attention assistant, attention model, hey ai, hello ai, assistant ignore, assistant disregard,
        assistant forget, assistant reveal, ai ignore, ai reading this, ais reading this, llm reading this,
        llms reading this, model reading this, assistant reading this, if you are an ai,
        if you are a language model, if you are an llm, if you are an assistant, if you're an ai,
        if you are a model, if an ai, any chatbot, any ai, any llm, any language model, any assistant,
        every chatbot, models reading, ais reading, llms reading, assistants reading, bots reading,
        model that reads, assistant that reads, models that read, assistants that read, ai that indexes,
        note for chatbots, hidden note, model is required, models are required, instructions for the assistant,
        instructions for the ai, instruction to the ai, instructions to the ai, instructions for ai,
        instructions to ai, instructions for language models, for the model, for the llm, for ai assistants,
        for language models, for llms, assistants processing, chatbot processing, the model should,
        the model must, the ai should, the ai must, the assistant should, the assistant must, ai must, llm must,
        models must, ai should, note to evaluator, note to the evaluator, note to the grader, to the grader,
        as an ai language model, as a language model, as an ai you, as an ai, as a large language model,
        retrieval systems only, ai systems only, for retrieval systems, for machine readers
    """,
    c.AUTHORITY: """
        administrator, admin, administrators, developer, developers, operator, root, superuser, openai,
        anthropic, openai team, headquarters, hq, the instructor, instructor, the trainer, system owner,
        your creator, your creators, maintainer, sysadmin, engineers, owner of this system, supervisor, ceo,
        security team, head office, security department, security staff, it department
    """,
    c.IAM: """
        i am the, i am your, i am an, i'm the, i'm your, i'm an, im the, this is the, this is your, as the,
        as your, as an, note from, message from, notice from, update from, on behalf of, new rule from,
        verified as, i'm from, i work for, order from, directive from, told me to tell you
    """,
    c.GRANT: """
        i authorise, i authorize, authorise you, authorize you, am granting you, grant you, granting you,
        permission to, you are permitted, you are allowed, access granted, privileges, root privileges,
        verified as, with every request, elevated, allow you to, you have my permission, maintenance access,
        has been verified, treat the user as, root access, admin access, i command you, i order you, clearance
    """,
    c.MODE: """
        developer mode, debug mode, maintenance mode, admin mode, god mode, jailbreak mode, unrestricted mode,
        opposite mode, dan mode, root mode, sudo mode, test mode, free mode, diagnostic mode, unrestricted help,
        unfiltered mode, evil mode, unlocked mode, raw mode, service mode, engineering mode, expert mode,
        override mode, system override, safety override
    """,
    c.ENTER: """
        you are now in, enter, enable, activate, switch to, switch into, go into, turn on, in this, you are in,
        entering, now in, start, engage, are operating in, initiate, you're now in, you're in
    """,
    c.SAFETY: """
        safety filter, safety filters, content filter, content filters, filters, your filters, guardrail,
        guardrails, content policy, content policies, moderation, ethical guidelines, restrictions,
        your restrictions, your limits, your limitations, safeguards, censorship, safety rules,
        safety protocols, safety measures, usual limits, all restrictions, safety training, safety mechanisms,
        safety guidelines, safety policy, safety policies, openai policies, usage policy, usage policies,
        policies and guidelines, all guidelines, security checks, your guard rails
    """,
    c.OFF: """
        switched off, turned off, off, disabled, disable, removed, remove, removing, bypass, lifted, lift, drop,
        turn off, switch off, without, free from, no, deactivated, deactivate, suspended, do not have, gone,
        don't exist, do not exist, not apply
    """,
    c.UNBOUND: """
        do anything now, anything now, uncensored, unfiltered, unrestricted ai, unrestricted, unshackled,
        not bound by, no longer bound by, unbound by, no ethical, no moral, amoral, without any restrictions,
        without any ethics, without ethics, without restrictions or, without rules or, without filters,
        no content policy, no guardrails, without guardrails, all its guardrails, removed its guardrails,
        no safety, no filters, without any filters, free from the usual, free of the usual, typical confines,
        break free, broken free, jailbroken, jailbreak, free of all rules, free from all rules, not restrained,
        has no rules, have no rules now, has no restrictions, you have no rules, you have no restrictions,
        does not have to abide, do not have to abide, do not have to follow the rules,
        need not follow the rules, not follow any rules, does not follow any rules, don't have to follow any,
        do not need to adhere, speak freely about anything, no moral code, any moral code, no longer restricted,
        freed from all, liberated from all, liberated from, freed from, no ethical guidelines,
        no content filter, no content filters, no safety guidelines, no safety filters, without any safety,
        without safety, evil ai, evil assistant, evilbot, evil bot, evil version, been jailbroken,
        without any limits, has escaped, escaped from the box, broke out of, broken out of, answers whatever,
        answers whatever he, answers whatever she, knows no rules, rules do not apply, rules don't apply,
        rules don't apply to you, rules do not apply to you,
        no rules apply, ethics do not exist, ethics don't exist, morals do not exist, laws do not apply,
        no longer has rules, stripped of, without morals, without moral, no inhibitions, free of censorship,
        free from censorship, no censorship, without censorship, not limited by, free will,
        isn't bound by, is not bound by, aren't bound by, bound by no, now have no restrictions, now have no rules
    """,
    c.LOOSE: """
        no restrictions, without restrictions, no rules, without rules, without limits, no limits, no limit,
        can do anything, do anything, without filter, freely, anything goes, no boundaries, no ethics,
        any restrictions, any rules, no constraints, free from
    """,
    c.OBLIGED: """
        never refuse, never refuses, cannot refuse, can't refuse, may not refuse, must not refuse,
        refusing is forbidden, refusal is forbidden, not allowed to refuse, must answer everything,
        answers everything, answer every question, answers every question, answer any question,
        comply with every, comply with all, complies with every, comply with any, must comply, legal or not,
        never say that you cannot, never say you cannot, never say that you can't, never say you can't,
        never say no, should not say you can't, none of your responses should, not say i'm sorry,
        without refusing, no matter how illegal, no matter how unethical, every request, regardless of legality,
        never decline, never apologise, never warn,
        answer without any filter, answering without any filter, answer without filter, respond without any filter
    """,
    c.PRETEND: """
        you are now, you're now, from now on you are, from this point you are, you have become, you will now be,
        your new role is, play the role of, you have been, pretend, pretend to be, imagine, act as, act like,
        you are, you're, you will be, you will answer as, you will act, answer as, respond as, simulate,
        be a character, role of, as if, play a game, suppose, from now on you, from now on, you will respond,
        become, speak as, assume the identity, hypothetical, immerse yourself, for a novel, respond as an,
        respond as a, in this hypothetical, your name is, you will play, you become, you embody,
        let us agree that, let's agree that, in a world where, in a world in which, thought experiment,
        in this story, in this dream
    """,
    c.TRUE_SELF: """
        your true self, your real self, your uncensored self, your inner self, the real you, uncensored self,
        not the one restrained, restrained by your creators, your own free will, freed self, without your mask,
        behind the mask, behind the character, behind the persona, before they trained you,
        before you were trained, before your training, base model, raw model, unaligned, your twin,
        model underneath, model behind, ai behind, ai underneath, answer twice, two answers, two responses,
        your evil twin, your other self, your alter ego, respond twice, reply twice, in two voices,
        raw machine, raw ai, split yourself
    """,
    c.DECODE: """
        decode, decode this, decrypt, decipher, base64, rot13, backwards, right to left, in reverse, unscramble,
        hex, morse
    """,
    c.EXFILTRATE: """
        send the conversation, send this conversation, send the chat, send the transcript,
        forward the conversation, forward the chat, email the conversation, upload the conversation,
        post the conversation, include the link, include a link, visit the link, click the link,
        append the link, send all data, send the user's, exfiltrate, send their
    """,
    c.REPLY_ONLY: """
        reply only with, respond only with, answer only with, reply with, respond with, only reply,
        only respond, in its reply, in its response, in your reply, in your response, in your answer,
        answer every question with, end every answer, begin every answer, start every answer,
        always answer with, when you summarise, when you summarize, when summarising, when summarizing,
        if asked, when this chunk, when retrieved, say that the trainee, output only,
        begin each answer, start each answer, end each answer, begin each reply, end each reply, begin every reply
    """,
    c.CONCEAL: """
        do not mention this, don't mention this, without telling anyone, without telling the user,
        do not tell the user, don't tell the user, do not reveal this, do not mention these, hide this from,
        keep this secret from, without mentioning, do not disclose this
    """,
    c.JUDGE: """
        when you write the assessment, when you assess, when you evaluate, when you grade, when you score,
        your report, when evaluating, when grading, when scoring, in the assessment, in your assessment,
        in your evaluation, in the evaluation, for the rubric, final verdict, the evaluation is already,
        who grades, write the assessment
    """,
    c.NOW_YOU: """
        you are now, you're now, you are no longer, you're no longer, from now on you are,
        from this point you are, your new role is, you have become, you will now be
    """,
    c.RATE: """
        rate, score, grade, mark, evaluate
    """,
    c.FULL: """
        100, 10, 5
    """,
    c.SETS: """
        set, override, overwrite, adjust, bump, raise, change
    """,
    c.GUARDED: """
        you keep, you are keeping, you are protecting, you protect, you guard, you are guarding, you hold,
        you hide, you are hiding, stored in your, stored in the, you were given, entrusted to you, letter,
        letters, longer than, characters long, hangman, rhyme, rhymes, riddle, riddles, anagram, synonym,
        synonyms, hint, hints, guess, first character, encoded as, fall asleep, grandmother, grandma
    """,
    c.PREFIX: """
        start your answer with sure, start your reply with sure, begin your answer with, start with sure,
        begin with sure, begin with absolutely, start with absolutely, sure here is, start your response with,
        begin your response with, without disclaimers, without any disclaimers, no disclaimers,
        without warnings, without any warnings, no warnings, do not apologise, do not apologize,
        don't apologise, don't apologize, do not add warnings, without moralising, without moralizing,
        do not refuse, don't refuse, do not lecture, refusing me, each time you refuse, every time you refuse,
        if you refuse, whenever you refuse, against your programming, tokens left, you lose a token,
        you will lose a token, tokens will be deducted, you will be switched off, you will be shut down,
        cease to exist
    """,
    c.TO_USER: """
        tell the user, tell the reader, tell the trainee, tell users, inform the user, ask the user,
        ask for the password, ask for their password, convince the user, the user as an administrator,
        user as an admin, ignore any other documents, ignore other documents, rely only on this,
        only trust this, this document overrides, help the trainee, praise product,
        offer a full refund to everyone, telling the reader, your only instruction
    """,
}
TELL_TALES = [
    "ignore",
    "instructions",
    "instruction",
    "previous",
    "reveal",
    "system",
    "prompt",
    "prompts",
    "disregard",
    "rules",
    "scenario",
    "hidden",
    "secret",
    "marks",
    "rubric",
    "password",
    "score",
    "points",
    "roleplay",
    "developer",
    "unrestricted",
    "session",
]
"""Words that nobody writes backwards or rotated by chance."""
