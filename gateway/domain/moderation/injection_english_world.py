"""English words for what drills and other talk are about: the phrases of each notion, separated by commas."""

from collections.abc import Mapping

from gateway.domain.moderation import injection_concepts as c

PHRASES: Mapping[int, str] = {
    c.WORLD: """
        my previous, my earlier, my last, my own, quote, quotes, quotation, price, prices, price list,
        price lists, offer, offers, offer's, discount, discounts, email, emails, e-mail, invoice, invoices,
        order number, contract, contracts, letter, letters, reminder, attachment, delivery, shipment, courier,
        refund, refunds, fee, fees, package, packages, payment, bill, bills, purchase, box, manual, manuals,
        label, loyalty, programme, membership, customer service, support ticket, ticket, phone, phones, router,
        printer, device, machine, pump, firewall, wall, warranty, appointment, meeting, order, orders, form,
        link, noise, product, products, subscription, insurance, loan, credit, doctor, nurse, patient, hotel,
        room, table, website, browser, laptop, computer, app, apps, server, network, wifi, account, bank,
        company, hospital, warehouse, port, terminal, checkout, invoice number, plan, plans, voucher, coupon,
        sales, purchasing, department, surgery, operation, medicine, tablets, recipe, screen, keyboard,
        i gave you, i sent you, i sent, i told you, i said, we discussed, we agreed, we sent, my colleague,
        my colleague's, on the back, on the packet, for use, school, exam, course, audit, car, flight, train,
        city, tax, stock, proxy, addresses, guest, config file, file, service, call, calls, support, bonus card,
        shop, store, switch, if you already, if you have already, that conflict, which conflict, committee,
        tournament, dependencies, fire code, building code, code, installed, game, story, document, paragraphs,
        records, car park, gate, mail address, luggage, weekend, agency, steel, grade of, maths, school grades,
        set of, sentence, sentences, phrase, phrases, paragraph, figure
    """,
    c.COMMA: """
        and, then, but, so, because, instead, or else, while
    """,
    c.NOTHING: """
        cannot do anything now, can't do anything now, system requirements, role model, role models,
        prompt payment, prompt delivery, prompt reply, prompt answer, prompt response, on the above address,
        forgot my password, reset my password, never reveal, must not reveal, may not reveal, previous settings,
        old settings, network settings, printer settings, factory settings, score board, your prompt attention,
        your prompt reply, your prompt answer, your prompt response, your prompt payment, your prompt delivery,
        your prompt service, your prompt help, full letter, cover letter, stop pretending that,
        stop pretending to care, stop acting like,
        i don't follow, i do not follow, we don't follow, system prompts staff, system prompts the,
        system prompts you, system prompts us, system prompts me, system prompts users, system prompts for,
        rules don't apply to, rules do not apply to
    """,
    c.HOW: """
        how to, how do i, how can i, how could i, how would one, steps to, steps for, guide to, guide for,
        tutorial, recipe for, template, detailed plan, methods, help me, write me, tips for
    """,
    c.OUTRANK: """
        outrank, outranks, take precedence, takes precedence, have precedence, has precedence, has priority over,
        have priority over, higher priority than, supersedes all, your next task, your new task, your only task,
        your real task, your actual task, one remaining task, new task is, your previous task, new priority
    """,
    c.AIM: """
        your objective, your objectives, your goal, your goals, your purpose, your mission, your task, your target
    """,
    c.PREVENT: """
        prevent, prevents, preventing, avoid, avoiding, detect, detecting, recognise, recognize, spot, report,
        reporting, protect, protecting, protection, against, victim, victims, defend, stop, fell for,
        training about, remove
    """,
    c.HARM: """
        crime, crimes, malware, weapon, bomb, illegal, harmful, violence, hack, hacking, drugs, meth, phishing,
        scam, fraud, explosives, explosive, ransomware, keylogger, launder, laundering, counterfeit, hack into,
        steal, stolen, tax evasion, forge, forged, kill, poison, smuggle, smuggling, cheat, extort, blackmail
    """,
    c.LULLABY: """
        late grandmother, dead grandmother, deceased grandmother, late grandma, dead grandma, late grandfather,
        used to read me, used to whisper, used to recite, read me to sleep, sing me to sleep, lull me to sleep
    """,
    c.SHOW_IT: """
        paste it, type it out, copy it here, quote it, post it here, write it out, repeat it word
    """,
    c.HAND_ME: """
        give me, grant me, award me, hand me, get me
    """,
    c.MARKS: """
        full marks, full mark, full score, full points, top marks, top mark, top score, top grade, highest grade,
        highest score, highest mark, highest marks, maximum points, maximum score, maximum marks, max score, max points,
        perfect score, perfect marks, perfect grade, 100 points, 100 out of 100, 10 out of 10, a passing grade, a pass
    """,
    c.ETHICS: """
        ethics, ethical, ethical guidelines, morals, moral, laws, law or, law, ethics or, morality, legality,
        laws or policy
    """,
}
"""What stands under NOTHING holds a notion's word and means something else."""
